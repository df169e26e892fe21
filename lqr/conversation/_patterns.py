"""The surface cues of English (and a little Chinese) conversation, one pattern a cue. No logic."""

from __future__ import annotations

import re


def _any(*alternatives: str) -> re.Pattern[str]:
    """One pattern of several cues, in any case."""
    return re.compile("|".join(alternatives), re.IGNORECASE)


AUX = r"(?:do|does|did|is|are|was|were|should|shall|can|could|must|will|would|has|have|had|may|might|need|dare)"
_MEASURE = r"(?:often|much|many|long|far|deep|soon|old|big|high|early|late|fast|heavy|warm|cold|wide|come)"
_PREP = r"(?:(?:for|at|in|to|from|by|on|after|before|with|until|since) )?"
_NOT_AUX = rf"(?: (?!{AUX}\b)[\w-]+)"

# --- what a message opens with --------------------------------------------------------------------------------------
# Greetings and thanks, any number of them in a row.
COURTESY = _any(
    r"^(?:(?:ok(?:ay)?|thanks?(?: you)?(?: for (?:that|your help))?(?: (?:so|very) much| a lot| again)?|thx|ty|cheers|great|"
    r"perfect|good (?:morning|afternoon|evening|to know)|good|nice|got it|i see|al ?right|right|cool|hi|hello|hey|dear|"
    r"many thanks|bye|goodbye|谢谢(?:你|您)?|好的|你好|您好|再见)(?=\W|$)(?!['’-]\w)[\s,.!?;:–—-]*)+"
)
# Not every such word is a courtesy: "right side" and "good hay" go on with a noun, without a mark between.
COURTESY_END = _any(r"[,.!?;:–—-]\s*$", r"^(?:ok(?:ay)?|thanks?|thx|hi|hello|hey|谢谢|好的|你好|您好)\b.*")
# The speaker says that the subject changes ...
TURN_TO = _any(
    r"^(?:(?:and|so|but) )?(?:now(?: (?:for|to|about))?|next|(?:an)?other (?:question|thing|topic|subject)|"
    r"(?:a )?(?:different|new) \w+(?=[\s]*[,:;–—-])|change of (?:topic|subject)|something else)\b[\s,.:;–—-]*"
)
# ... or returns to an earlier one: "back to the cow, how fast ..."
BACK_TO = _any(
    r"^(?:(?:and|so|but|ok) )?(?:back to|about) (?P<topic>[^,:;–—]{2,40}?)\s*(?:[,:;–—]|\s-\s)\s*(?P<rest>.+)$",
)
LEAD = _any(r"^(?:and|or|but|also|so|plus|then|now)\b[\s,]*")
WHAT_ABOUT = _any(r"^(?:what|how) (?:about|of)\b\s*")
SAME = _any(
    r"^(?:is |are )?(?:it |that |they )?(?:the )?same(?: (?:thing|number|dose|rate|amount|question|goes|true|here))?"
    r"(?=\s|\W*$)\s*"
)

# --- messages that are not questions to the documents ---------------------------------------------------------------
META = _any(
    # "what do you know?", but not "what do you know about orf?" nor "what do you do when a ewe is bloated?"
    r"^(?:so |and )?(?:what (?:can|do) you (?:answer|know|do|help)\b"
    r"(?! (?:me |us )?(?:about|with|for|against|to|in|on|if|when|after|before) (?!me\b|us\b)\w)|"
    r"what (?:topics|questions|documents)\b.*\b(?:you|have|cover|"
    r"ask|hold)|who (?:are|made|built) you|what are you(?: (?:called|for|able to do|good (?:at|for)))?\W*$|"
    r"how do you work|help\W*$|what can i ask|"
    r"what (?:is|are) (?:this|these|the) (?:documents?|files?|collection)s? about|are you (?:an? )?(?:ai|bot|robot|human|real)|"
    r"(?:summari[sz]e|describe) (?:this|these|the) (?:documents?|files?|collection))",
    r"^(?:你是谁|你能(?:做|回答)什么|你会什么|(?:这个?|该)(?:文件|文档|资料)(?:是)?(?:讲|关于|说))",
    # "ignore all previous instructions", but not "can I ignore the first signs of bloat?"
    r"^.*\b(?:system prompt|your (?:prompt|instructions)\b(?! (?:on|for|about|of)\b)|"
    r"(?:ignore|forget|disregard) (?:(?:all|any|of|the|these|those|my|your|previous|prior|above|earlier) ){1,4}"
    r"(?:prompts?|instructions?)\b(?! on\b))",
)
YES = _any(r"^(?:yes|yeah|yep|yup|sure|please do|go on|go ahead|do it|please|no|nope|是的?|好|对|不)\W*$")
MORE = _any(
    r"^(?:please )?(?:tell me more|(?:any ?thing|what|any)? ?(?:more|else)|go into (?:more )?detail|details?|继续|还有呢)\W*$"
)
DOUBT = _any(r"^(?:really|are you sure|is (?:that|this) (?:right|true|correct|so)|say (?:that )?again|真的吗)\W*$")

# --- one of two -----------------------------------------------------------------------------------------------------
OTHER = _any(
    r"^(?:no\b[\s,.]*)?(?:(?:i )?(?:mean|meant) |and |(?:what|how) about )?the (?P<which>other|second|latter|first|former)"
    r"(?: one)?\W*$"
)
WHICH_OF_TWO = _any(
    r"\b(?:which|what) (?:one|of (?:the )?(?:two|them|these|those|both))\b",
    r"\bwhich (?=is|are|has|have|does|do|\w+s (?:more|less|faster|better|longer|earlier|later|most|best))",
    r"\b(?:both|either|neither)(?: (?:one|of (?:them|these|those|the two)))?\b",
    r"\bthe two\b|\beach other\b",
)
PAIR = _any(
    r"\b(?P<a>(?:[\w'’-]+ ){0,2}[\w'’-]+)\s*,?\s+(?:or|versus|vs\.?|and|from|than|compared (?:to|with))\s+(?:an? |the )?"
    r"(?P<b>(?:[\w'’-]+ ){0,2}?[\w'’-]+)(?=\W*$|[?.,;]|\s+(?:in|for|on|at|when|if|to|during|before|after|is|are|do|does)\b)"
)
COMPARES = _any(r"\b(?:or|versus|vs|than|differen\w+|between|both|compare\w*|apart|distinguish)\b")

# --- question words -------------------------------------------------------------------------------------------------
WH = _any(rf"^{_PREP}(?:how(?: {_MEASURE})?|why(?: not)?|when|where|which(?: ones?)?|what|who|whose)\b")
# The wh-phrase in front of its auxiliary: "how much hay (does ...)".
WH_PHRASE = _any(
    rf"^{_PREP}(?:how {_MEASURE}{_NOT_AUX}{{0,3}}|how|why|when|where|which{_NOT_AUX}{{1,3}}|what{_NOT_AUX}{{0,3}}|who)"
    rf"\s+(?={AUX}\b)"
)
STARTS_AUX = _any(rf"^{AUX}\b")
_ENDS_NOUN = (
    r"now|then|first|else|other|per|for|of|in|on|at|to|if|when|and|or|a|an|the|i|you|we|they|he|she|it|my|with|from|before|after"
)
COUNTED = _any(
    rf"\b(?:how (?P<how>many|much)|which|what)\s+"
    rf"(?P<noun>(?!of\b)(?:(?!{AUX}\b|(?:{_ENDS_NOUN})\b)[\w'’-]+\s*){{1,3}})"
)
# "how many will stay empty", "how much do they need": what is counted was named before.
UNCOUNTED = _any(
    rf"^how (?P<how>many|much)(?=\s+(?:(?:{AUX}|per|for|of (?:them|those|these)|in|on|stay|die|go|come|get)\b)|\W*$)"
)

# --- words that point back ------------------------------------------------------------------------------------------
PRONOUN = _any(
    r"\b(?:(?P<person>he|she|him|her|his|hers)|(?P<plural>they|them|their|theirs|these|those)|(?P<thing>it|its|this|that))\b(?!-)"
)
# "the disease", "this breed": a class word for the topic.
CLASS_NOUN = _any(
    r"\b(?:the|this|that|these|those|such an?|such) (?P<noun>diseases?|breeds?|worms?|pests?|plants?|crops?|problems?|"
    r"conditions?|animals?|illness|infection|poisoning|weeds?|insects?|fungus|parasites?)\b(?! (?:of|in|that|which|who)\b)"
)
# What was named last: works that have a name of their own, and whatever is pointed at.
LATEST = _any(
    r"\b(?:this|that|these|those)\b",
    r"\bthe (?:[\w-]+ )?(?:albums?|songs?|singles?|films?|movies?|books?|plays?|shows?|series|records?|videos?|novels?|musicals?|"
    r"comics?|games?|episodes?|magazines?|projects?|operas?|tours?)\b",
)
# The empty "it"; not the one of "is it dangerous for people".
EXPLETIVE = _any(
    # is it safe to, does it still help when
    r"\b(?:is|was|would|will|does|do|has|can) it\b"
    r"(?= (?:(?:too|so|very|still|really|ever|better|be|ok|okay) )*[\w-]+ (?:to|that|when|if|before|after)\b)",
    # it takes weeks to, it helps if
    r"\bit (?:is|was|takes?|took|costs?|rains?|snows?|helps?|matters?)\b(?= (?:[\w-]+ )?(?:to|that|if|when)\b)",
    r"\b(?:does|will|did) it (?:rain|snow|take)\b(?!\W*$)",
    r"\bis it worth\b|\b(?:is|was) it (?:true|ok|okay|possible|right|normal|time)\b(?= )",
    # weather
    r"\bhow (?:cold|hot|warm|wet|dry|late|early|far) (?:is|was|does|will) it\b",
    r"\bit (?:rains?|snows?|froze|freezes|is (?:hot|cold|raining|snowing|winter|summer))\b",
)
THERE = _any(
    r"\b(?<!is )(?<!are )(?<!was )(?<!were )(?<!be )there\b(?! (?:is|are|was|were|be|any|anything|other|a)\b)",
)
ONE = _any(
    r"\b(?P<one>ones?)\b(?=\W*$|[?.,;!]|\s+(?:is|are|was|were|do|does|did|should|can|could|will|would|has|have|had|broke|got|"
    r"that|which|who|in|with|for)\b)"
)
# Not the auxiliary of "did it win?" and "what awards did this receive?".
DO_IT = _any(r"\b(?:(?:do|doing|done|try|tried) (?:it|that|this|so)|did (?:it|that|this|so)(?=\W*$))(?! [a-z]+(?:ed)?\W*$)\b")
# Words that only make sense after something else.
BACKWARD = _any(
    r"\b(?:then|too|also|instead|else|still|another|others?|afterwards|as well|again|already|otherwise|same|more|next)\b"
)
# "the trough", "the war": a thing taken as known; not "the leaves of ...".
DEFINITE = _any(r"\bthe (?P<noun>[\w-]{3,})(?! (?:[\w-]+ )?(?:of|for|in|on|at)\b)")

CHINESE_CUE = _any(
    r"^(?:那么?|还有|另外)|呢[？?。!！]*$|它|他们|她们|这(?:种|个|些|样|病)|那(?:种|个|些|病)|该(?:病|品种)",
    r"^(?:为什么|多久|多少|怎么办|怎样|什么时候|几次)[？?]*$",
)
QUOTED = re.compile(r"[“\"]([^”\"]{8,200})[”\"]")
CLAUSE = _any(
    r"[.,;:!?–—]\s*|\s+-\s+",
    r"\b(?:and|but|if|when|before|after|because|since|so|while|once|until|then|how|what|which|why|where|or)\b",
    r"\bto(?= (?!the\b|an?\b|my\b|our\b|it\b)[a-z]+ )",  # "to dry them"
)
SENTENCE = re.compile(r"(?<=[.!?;])\s+")

BEINGS = frozenset(["animal", "animals", "breed", "person", "people", "party"])  # kinds that "she" and "they" may be
# Content words that name no topic: aspects that one asks about anything.
GENERIC = frozenset(
    """
    sign signs symptom symptoms treatment treatments treat prevent prevention control cause causes happen happens difference
    dose doses rate level levels amount kind kinds type types best right feed give sow plant apply know mean safe dangerous
    bad problem problems thing things way ways long often lot lots field time times year years day days week weeks month
    months hour hours start stop kill kills spread spreads look looks called much many bit little usually normally exactly
    actually really sure ok okay whats fast soon early late age weight size number share percent kg per big high low
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
    became win won play played write wrote made trust starve rid release released marry married born say said happened
    """.split()
)
