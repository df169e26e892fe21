"""The surface cues of English (and a little Chinese) conversation, one pattern a cue. No logic."""

from __future__ import annotations

import re

I = re.IGNORECASE  # noqa: E741 - a flag used on every line

# --- what a message opens with ------------------------------------------------------------------------------------------
# Greetings and thanks, any number of them in a row.
COURTESY = re.compile(
    r"^(?:(?:ok(?:ay)?|thanks?(?: you)?(?: for (?:that|your help))?(?: (?:so|very) much| a lot| again)?|thx|ty|cheers|great|"
    r"perfect|good (?:morning|afternoon|evening|to know)|good|nice|got it|i see|al ?right|right|cool|hi|hello|hey|dear|"
    r"many thanks|bye|goodbye|谢谢(?:你|您)?|好的|你好|您好|再见)(?=\W|$)(?!['’-]\w)[\s,.!?;:–—-]*)+",
    I,
)
# Not every courtesy word is one: "right side", "nice breeds", "good hay" go on with a noun, without a mark between.
COURTESY_END = re.compile(r"[,.!?;:–—-]\s*$|^(?:ok(?:ay)?|thanks?|thx|hi|hello|hey|谢谢|好的|你好|您好)\b.*", I)
# The speaker says that the subject changes.
TURN_TO = re.compile(
    r"^(?:(?:and|so|but) )?(?:now(?: (?:for|to|about))?|next|(?:an)?other (?:question|thing|topic|subject)|"
    r"(?:a )?(?:different|new) \w+(?=[\s]*[,:;–—-])|change of (?:topic|subject)|something else)\b[\s,.:;–—-]*",
    I,
)
# ... or returns to an earlier one: "back to the cow, how fast ..."
BACK_TO = re.compile(
    r"^(?:(?:and|so|but|ok) )?(?:back to|about) (?P<topic>[^,:;–—]{2,40}?)\s*(?:[,:;–—]|\s-\s)\s*(?P<rest>.+)$", I
)
LEAD = re.compile(r"^(?:and|or|but|also|so|plus|then|now)\b[\s,]*", I)
WHAT_ABOUT = re.compile(r"^(?:what|how) (?:about|of)\b\s*", I)
SAME = re.compile(
    r"^(?:is |are )?(?:it |that |they )?(?:the )?same(?: (?:thing|number|dose|rate|amount|question|goes|true|here))?(?=\s|\W*$)\s*",
    I,
)

# --- messages that are not questions to the documents ---------------------------------------------------------------------
META = re.compile(
    r"^(?:(?:so |and )?(?:what (?:can|do) you (?:answer|know|do|help)|what (?:topics|questions|documents)\b.*\b(?:you|have|cover|"
    r"ask|hold)|who (?:are|made|built) you|what are you\b(?! feeding)|how do you work|"
    r"what (?:is|are) (?:this|these|the) (?:documents?|files?|collection)s? about|help\W*$|what can i ask|are you (?:an? )?(?:ai|"
    r"bot|robot|human|real)|(?:summari[sz]e|describe) (?:this|these|the) (?:documents?|files?|collection))|你是谁|"
    r"你能(?:做|回答)什么|你会什么|(?:这个?|该)(?:文件|文档|资料)(?:是)?(?:讲|关于|说)|"
    r".*\b(?:system prompt|(?:your|previous|above) (?:prompt|instructions)|ignore (?:all|the|your|previous)))",
    I,
)
YES = re.compile(r"^(?:yes|yeah|yep|yup|sure|please do|go on|go ahead|do it|please|no|nope|是的?|好|对|不)\W*$", I)
MORE = re.compile(
    r"^(?:please )?(?:tell me more|(?:any ?thing|what|any)? ?(?:more|else)|go into (?:more )?detail|details?|继续|还有呢)\W*$", I
)
DOUBT = re.compile(r"^(?:really|are you sure|is (?:that|this) (?:right|true|correct|so)|sure|say (?:that )?again|真的吗)\W*$", I)

# --- one of two -----------------------------------------------------------------------------------------------------------
OTHER = re.compile(
    r"^(?:no\b[\s,.]*)?(?:(?:i )?(?:mean|meant) |and |what about |how about )?the (?P<which>other|second|latter|first|former)(?: one)?\W*$",
    I,
)
WHICH_OF_TWO = re.compile(
    r"\b(?:which|what) (?:one|of (?:the )?(?:two|them|these|those|both))\b|\bwhich (?=is|are|has|have|does|do|spreads?|needs?|gives?|grows?|costs?|lasts?|lives?|kills?|\w+s (?:more|less|faster|better|longer|earlier|later))|\b(?:both|either|neither)(?: (?:one|of (?:them|these|those|the two)))?\b|\bthe two\b|\beach other\b",
    I,
)
PAIR = re.compile(
    r"\b(?P<a>(?:[\w'’-]+ ){0,2}[\w'’-]+)\s*,?\s+(?:or|versus|vs\.?|and|from|than|compared (?:to|with))\s+(?:an? |the )?(?P<b>(?:[\w'’-]+ ){0,2}?[\w'’-]+)"
    r"(?=\W*$|[?.,;]|\s+(?:in|for|on|at|when|if|to|during|before|after|is|are|do|does)\b)",
    I,
)
COMPARES = re.compile(r"\b(?:or|versus|vs|than|differen\w+|between|both|compare\w*|apart|distinguish)\b", I)

# --- question words ---------------------------------------------------------------------------------------------------------
AUX = r"(?:do|does|did|is|are|was|were|should|shall|can|could|must|will|would|has|have|had|may|might|need|dare)"
HOW = r"how(?: (?:often|much|many|long|far|deep|soon|old|big|high|early|late|fast|heavy|warm|cold|wide|come))?"
WH = re.compile(
    rf"^(?:(?:for|at|in|to|from|by|on|after|before|with|until|since) )?(?:{HOW}|why(?: not)?|when|where|which(?: ones?)?|what|who|whose)\b",
    I,
)
# The wh-phrase in front of its auxiliary: "how much hay (does ...)".
WH_PHRASE = re.compile(
    rf"^(?:(?:for|at|in|to|from|by|on|after|before|with) )?(?:how (?:often|much|many|long|far|deep|soon|old|big|high|early|late|fast|heavy)"
    rf"(?: (?!{AUX}\b)[\w-]+){{0,3}}|how|why|when|where|which(?: (?!{AUX}\b)[\w-]+){{1,3}}|what(?: (?!{AUX}\b)[\w-]+){{0,3}}|who)\s+(?={AUX}\b)",
    I,
)
STARTS_AUX = re.compile(rf"^{AUX}\b", I)
COUNTED = re.compile(
    rf"\b(?:how (?P<how>many|much)|which|what)\s+(?P<noun>(?!of\b)(?:(?!{AUX}\b|(?:now|then|first|else|other|per|for|of|in|on|at|to|if|when|and|or|a|an|the|i|you|we|they|he|she|it|my|with|from|before|after)\b)[\w'’-]+\s*){{1,3}})",
    I,
)
# "how many will stay empty", "how much do they need": what is counted was named before.
UNCOUNTED = re.compile(
    rf"^how (?P<how>many|much)(?=\s+(?:(?:{AUX}|per|for|of (?:them|those|these)|in|on|stay|die|go|come|get)\b)|\W*$)", I
)

# --- words that point back ----------------------------------------------------------------------------------------------------
PRONOUN = re.compile(
    r"\b(?:(?P<person>he|she|him|her|his|hers)|(?P<plural>they|them|their|theirs|these|those)|(?P<thing>it|its|this|that))\b(?!-)",
    I,
)
# "the disease", "this breed": a class word for the topic.
CLASS_NOUN = re.compile(
    r"\b(?:the|this|that|these|those|such an?|such) (?P<noun>diseases?|breeds?|worms?|pests?|plants?|crops?|problems?|conditions?|"
    r"animals?|illness|infection|poisoning|weeds?|insects?|fungus|parasites?)\b(?! (?:of|in|that|which|who)\b)",
    I,
)
# The empty "it" of "is it safe to", "it takes", "does it rain", "how long does it take to"; not of "is it dangerous for people".
EXPLETIVE = re.compile(
    r"\b(?:is|was|would|will|does|do|has|can) it\b(?= (?:(?:too|so|very|still|really|ever|better|be|ok|okay) )*[\w-]+ (?:to|that|when|if|before|after)\b)"
    r"|\bit (?:is|was|takes?|took|costs?|rains?|snows?|helps?|matters?)\b(?= (?:[\w-]+ )?(?:to|that|if|when)\b)|\b(?:does|will|did) it (?:rain|snow|take)\b(?!\W*$)|\bis it worth\b|\bhow (?:cold|hot|warm|wet|dry|late|early|far) (?:is|was|does|will) it\b"
    r"|\bit (?:rains?|snows?|froze|freezes|is (?:hot|cold|raining|snowing|winter|summer))\b|\b(?:is|was) it (?:true|ok|okay|possible|right|normal|time)\b(?= )",
    I,
)
THERE = re.compile(r"\b(?<!is )(?<!are )(?<!was )(?<!were )(?<!be )there\b(?! (?:is|are|was|were|be|any|anything|other|a)\b)", I)
ONE = re.compile(
    r"\b(?P<one>ones?)\b(?=\W*$|[?.,;!]|\s+(?:is|are|was|were|do|does|did|should|can|could|will|would|has|have|had|broke|got|that|which|who|in|with|for)\b)",
    I,
)
DO_IT = re.compile(r"\b(?:do|doing|done|did|try|tried) (?:it|that|this|so)\b", I)
# Words that only make sense after something else.
BACKWARD = re.compile(
    r"\b(?:then|too|also|instead|else|still|another|other|others|afterwards|as well|again|already|otherwise|same|more|next)\b", I
)

CHINESE_CUE = re.compile(
    r"^(?:那么?|还有|另外)|呢[？?。!！]*$|它|他们|她们|这(?:种|个|些|样|病)|那(?:种|个|些|病)|该(?:病|品种)|^(?:为什么|多久|多少|怎么办|怎样|什么时候|几次)[？?]*$"
)
QUOTED = re.compile(r"[“\"]([^”\"]{8,200})[”\"]")
CLAUSE = re.compile(
    r"[.,;:!?–—]\s*|\s+-\s+|\b(?:and|but|if|when|before|after|because|since|so|while|once|until|then|how|what|which|why|where|or|to(?= (?!the\b|a\b|an\b|my\b|our\b|it\b)[a-z]+ ))\b",
    I,
)
SENTENCE = re.compile(r"(?<=[.!?;])\s+")

# Content words that name no topic: aspects that one asks about anything.
GENERIC = frozenset(
    """
    sign signs symptom symptoms treatment treatments treat prevent prevention control cause causes happen happens difference
    dose doses rate level levels amount kind kinds type types best right feed give sow plant apply know mean safe dangerous
    bad problem problems thing things way ways long often lot lots field time times year years day days week weeks month
    months hour hours start stop kill kills spread spreads look looks called much many bit little usually normally exactly
    actually really sure ok okay whats long fast soon early late age weight size number share percent kg per big high low
    cant dont wont isnt doesnt hows wheres worse better cheaper more less fine grade
    possible worth anything something everything interesting important main please
    """.split()
)
VERBS = frozenset(
    """
    is are was were be been do does did can could should would will must may might has have had treat prevent control feed
    give gave sow plant apply cut graze vaccinate shear spray harvest store irrigate test check tell know use make keep get
    got take took need happen cost spread die died eat ate drink grow kill look start stop work help cause catch caught come
    came live move sell buy mix inject drench wean mate calve cure stack dry fertilise fertilize stay show shows go goes went
    put puts let lets see saw find found run ran try want wants pull pulls lie lies lost lose stand stands mean means feel
    feels think call called add adds raise worm bring brings like avoid leave left turn last lasts carry carries become
    became win won play played write wrote make made trust starve release released marry married born say said happened
    """.split()
)
DETERMINERS = frozenset(
    "a an the my your our his her their its this that these those some any each every no which what how".split()
)
