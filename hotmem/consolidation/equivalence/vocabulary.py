"""Vocabulary of statement comparison: synonyms, exclusive words and verb forms."""

from typing import Final

from hotmem.text.stemming import stem
from hotmem.text.word_sets import wordlist
from hotmem.understanding.animate_nouns import ANIMATE


def _groups(words: str) -> list[list[str]]:
    """Word groups, separated by newlines or bars."""
    return [group.split() for group in words.replace("\n", "|").split("|") if group.strip()]


IRREGULAR_FORMS: Final = {
    form: base
    for base, *forms in _groups(
        "be was were been|beat beaten|become became|begin began begun|bite bit bitten"
        "|break broke broken|bring brought|build built|buy bought|"
        "catch caught|choose chose chosen|come came|deal dealt|dig dug|do did done"
        "|draw drew drawn|drink drank drunk|drive drove driven|"
        "eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found|fly flew flown"
        "|forget forgot forgotten|get got gotten|"
        "give gave given|go went gone|grow grew grown|hang hung|have had|hear heard"
        "|hide hid hidden|hold held|keep kept|know knew known|lay laid|"
        "lead led|leave left|lend lent|lose lost|make made|mean meant|meet met|pay paid"
        "|ride rode ridden|run ran|say said|see saw seen|sell sold|"
        "send sent|shake shook shaken|shoot shot|sing sang sung|sink sank sunk|sit sat"
        "|sleep slept|speak spoke spoken|spend spent|stand stood|"
        "steal stole stolen|swim swam swum|take took taken|teach taught|tell told|think thought"
        "|throw threw thrown|understand understood|"
        "wake woke woken|wear wore worn|win won|write wrote written"
    )
    for form in forms
}
"""Irregular verb forms, each with its base form."""

PAST_FORMS: Final = frozenset(IRREGULAR_FORMS) - {"been", "got", "gotten"}
"""Forms that mean the past without an auxiliary, unlike "got" in "I've got a car"."""

_SYNONYMS: Final = _groups(
    """
    mother mum mom mama mommy mummy|father dad papa daddy|grandmother grandma granny nana gran
    grandfather grandpa granddad grandad|child kid children|husband spouse
    boss manager supervisor chief|colleague coworker|doctor gp physician dr|veterinarian vet
    lawyer attorney solicitor|baby infant toddler|flatmate roommate housemate|neighbour neighbor
    guest visitor|staff employee|customer client|kindergarten nursery|apartment flat|house home
    fridge refrigerator|car auto automobile|bike bicycle cycle
    phone telephone cellphone smartphone mobile cell|elevator lift|trash rubbish garbage bin
    holiday vacation|movie film|autumn fall|shop store|tyre tire|cellar basement|sofa couch settee
    television tv telly|laptop notebook|mail post email|stove cooker|wardrobe closet
    cupboard cabinet|tap faucet|torch flashlight|petrol gas fuel|plane airplane aircraft
    motorbike motorcycle|lorry truck|biscuit cookie|coriander cilantro|soccer football
    math maths mathematics|photo picture|begin start commence|finish complete|buy purchase
    live dwell reside|like love enjoy|hate dislike loathe detest|fear scare frighten terrify afraid
    ill sick unwell|large big huge|larger bigger|small little tiny|fast quick rapid|clever smart
    tired exhausted|glad happy|dull boring bored|job work employ occupation|speak talk|name call
    price cost fee|fix repair mend|own possess belong|need require|choose pick select
    hurt ache pain painful|happen occur|allow permit|forbid ban prohibit|throw toss|collect gather
    answer reply respond response|shut close|learn study|colour color|favourite favorite
    centre center|surgery operation operate|pill tablet|medicine medication drug
    physiotherapy physio|meeting meet appointment|every each daily|lease rent|deadline due
    password passcode|deploy deployment release|bug error defect|repository repo|directory folder
    database db|short brief concise|euro eur|dollar usd|pound gbp quid|kilo kg kilogram kilogramme
    minute min|hour hr|kilometre km kilometer|metre meter|allergic allergy|vegetarian veggie
    marry wedding marriage|die dead death|receive obtain|expire expiry|pregnant expecting
    prefer rather|quit stop cease|reject refuse decline|stay remain|injure injury wound
    birthday born birth|loan credit|salary wage|postpone delay|lock latch|chicken hen|handle deal
    he him his|she her|cause trigger
    """
)

SYNONYMS: Final = {stem(word): stem(first) for first, *others in _SYNONYMS for word in others}
"""Stems of synonyms, each with the stem of its group."""

_EXCLUSIVE_WORDS: Final = _groups(
    """
    red blue green yellow black white brown grey gray pink orange purple silver|left right
    top bottom upper lower|on off|open close|up down|in out|morning evening night afternoon
    atam evening|atam night|atam atpm|atam afternoon|morning atpm|day night|early late|before after
    inside outside|hot cold|monday tuesday wednesday thursday friday saturday sunday
    spring summer autumn winter|north south east west|second minute hour day week month year
    january february march april may june july august september october november december|more less
    most least|always never sometimes often rarely|eldest youngest oldest|old new|good bad
    right wrong|married single divorced engaged|breakfast lunch dinner|milk sugar honey lemon
    for against|tea coffee beer wine water juice
    kitchen bathroom bedroom hall attic cellar garage shed garden|son daughter|brother sister
    mother father|uncle aunt|husband wife|nephew niece|grandmother grandfather
    grandson granddaughter|boy girl|dog cat horse rabbit hamster bird fish
    football tennis chess golf judo hockey handball volleyball badminton basketball
    piano violin guitar cello flute trumpet drum viola oboe|euro dollar pound franc
    train bus car bike plane boat tram ferry|with without|maximum minimum|hate like|accept reject
    create delete drop save|buy sell rent|find lose|lend borrow|arrive leave|win lose
    english french german spanish italian polish dutch turkish
    """
)


def canonical(word: str) -> str:
    """The stem of a word's base form, or of the first of its synonyms."""
    found = stem(IRREGULAR_FORMS.get(word, word))
    return SYNONYMS.get(found, found)


EXCLUSIVE_WORDS: Final = tuple(
    frozenset(canonical(word) for word in group) for group in _EXCLUSIVE_WORDS
)
"""Groups of mutually exclusive words, as `canonical` returns them."""

_OTHERS: Final = wordlist(
    "grandparent godson goddaughter motherinlaw fatherinlaw brotherinlaw sisterinlaw family "
    "relative team customer tenant assistant lawyer "
    "student nanny he she"
)
PEOPLE: Final = frozenset(canonical(word) for word in ANIMATE | _OTHERS)
"""Words for people, as `canonical` returns them."""

DATES: Final = wordlist(
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday "
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays"
)
"""Capitalised words that are not names."""

FUNCTION_WORDS: Final = wordlist(
    "a an the this that these those it its there here s t of in on at to for with from by "
    "into onto up out off over under about as and or but "
    "so then than if when while because since who whom whose which where how i me my mine we us "
    "our ours you your he him his she her they them "
    "their myself itself himself herself themselves be am is are was were been being do does did "
    "doing done have has had having get gets got "
    "getting will would can could should must may might shall not no never nolonger any some all "
    "every each only both now want wants wish need "
    "needs own one way thing please just well um uh ok okay also too very really quite absolutely "
    "more atam atpm"
)
"""Function words, whose effect other features measure."""

WEAK_WORDS: Final = frozenset(
    canonical(word)
    for word in wordlist(
        "go come take make give put set use name say tell stay time place kind person always "
        "usually today fact down head side even still yet know "
        "feel keep let person people live locate suffer"
    )
)
"""Words that a paraphrase often adds or drops, as `canonical` returns them."""
