"""How often the right article is found for questions in people's own words, with and without the profile's ``[synonyms]``.

    python -m benchmarks.synonyms

Retrieval alone, one step, no relevance model. The questions were written by whoever wrote the table, so the figures show that the
mechanism works, not how many unseen words the table covers.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from lqr.app import build
from lqr.settings import Settings
from lqr.text import is_cjk

# question | beginnings of the headings that are right
QUESTIONS = """\
what do I do for a ewe with twin lamb disease|Pregnancy toxaemia
what age do lambs go down with cocci|Coccidiosis in lambs
how do you treat water belly in a wether|Urinary stones
ewe has sleepy sickness, what is the treatment|Pregnancy toxaemia
can I put out a cow lick for my ewes|Minerals and salt|Chronic copper|Using products
how do I keep blowflies off my hoggets|Flystrike
my lambs have scabby mouth, will it clear up by itself|Orf
how is vrotpootjie treated|Footrot
what causes domsiekte|Pregnancy toxaemia
how does liver rot get into sheep|Liver fluke
what does haarwurm do to a sheep|Barber's pole
how often should I worm dogs against hydatids|Hydatid
when is the withholding period over for sheep meat|Medicine withdrawal
how much beestings must a new lamb get|Colostrum
how do I feed a poddy lamb|Bottle-feeding
how do I get a ewe to adopt a lamb by mothering on|Fostering
when should preg checking be done in ewes|Pregnancy scanning
best time for tailing lambs|Docking
how does khurpaka muhpaka spread|Foot-and-mouth
what is the seeding rate of lucerne|Growing alfalfa
when is it safe to graze sudax|Sorghum-sudangrass
when to plant mealies|Growing maize
when should canola be planted|Winter rapeseed
signs of yellow rust|Wheat rusts
when do you spray for head scab|Fusarium head blight
can spuds with blight be saved by spraying|Potato late blight
is HLB curable|Citrus greening
how do I reclaim usar land|Saline and sodic
what is heitutan and how is it restored|Alpine meadow|Reseeding
how do I stop zud losses|Winter and snow
羔羊球虫病多大容易得？|Coccidiosis in lambs
母羊妊娠毒血症怎么治疗？|Pregnancy toxaemia
口蹄疫怎么传播？|Foot-and-mouth
退化草地什么时候补播？|Reseeding
苜蓿什么时候刈割？|Growing alfalfa
新生羔羊需要多少初乳？|Colostrum
小麦赤霉病什么时候打药？|Fusarium head blight
布病人会传染吗？|Brucellosis|Diseases people
青贮窖气体为什么危险？|Silo gas
盐碱地怎么洗盐？|Saline and sodic"""


def main() -> int:
    application = build(Settings.load(collection="agriculture"))
    pipeline = application.pipeline
    plain = replace(pipeline, profile=replace(pipeline.profile, synonyms={}))
    for name, using in (("with the table", pipeline), ("without", plain)):
        counts = {"English": [0, 0, 0], "Chinese": [0, 0, 0]}
        for line in QUESTIONS.splitlines():
            question, *right = line.split("|")
            asked, _ = using.glossed(question, None)
            headings = [hit.passage.heading for hit in using.layered.retrieve(asked, None).hits[:5]]
            found = [any(heading.startswith(begin) for begin in right) for heading in headings]
            count = counts["Chinese" if is_cjk(question) else "English"]
            count[0] += found[:1] == [True]
            count[1] += any(found)
            count[2] += 1
        for language, (first, five, n) in counts.items():
            print(f"{name:15} {language}: first {first} of {n}, in the first five {five} of {n}")
    application.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
