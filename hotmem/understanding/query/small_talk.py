"""Patterns of small talk: remarks and orders to the bot, and exclamations."""

from typing import Final

_ADJECTIVES: Final = (
    r"(?:great|good|nice|cool|awesome|amazing|wonderful|lovely|fine|perfect|excellent|brilliant"
    r"|fantastic|fabulous|superb|interesting|funny|hilarious|true|right|wrong|correct|sweet|sad"
    r"|kind|helpful|thoughtful|generous|clever|smart|wise|weird|strange|odd|silly|cheeky|rude"
    r"|mean|mad|crazy|ridiculous|impressive|handy|useful|better|tough|awful|terrible|horrible"
    r"|shocking|incredible|unbelievable|beautiful|cute|charming|polite|patient|(?:too )?bad"
    r"|ok(?:ay)?|enough|all|it|fast|quick)"
)
_NOUNS: Final = (
    r"(?:one|star|legend|gem|treasure|angel|genius|joker|lifesaver|darling|dear|shame|pity|relief"
    r"|surprise|laugh|joke|best|man|boy|girl|thing|help|friend)"
)
_THIS: Final = (
    r"(?:that(?:['’]s| is| was| sounds)|it(?:['’]s| is| was| sounds)|this is"
    r"|you(?:['’]re|re| are)|sounds|how|so|very|really|aren['’]t you|isn['’]t (?:that|it))"
)
_DEGREE: Final = (
    r"(?:(?:so|very|really|too|quite|pretty|just|all|such|a|an|the|absolutely|rather) ){0,4}"
)

REMARKS: Final = (
    rf"{_THIS} {_DEGREE}{_ADJECTIVES}(?: {_NOUNS})?(?: of you)?(?: (?:today|then|again))?",
    rf"{_THIS} {_DEGREE}{_NOUNS}",
    (
        r"what an? (?:(?:lovely|nice|great|terrible|awful|long|beautiful|horrible|weird|strange) )?"
        r"(?:day|night|week|morning|evening|year|mess|surprise|relief|pity|shame|laugh|joke"
        r"|nightmare|life|world|game|match|idea|question|thing to say)"
    ),
    (
        r"(?:(?:what|lovely|nice|beautiful|gorgeous|great|awful|terrible|horrible|miserable|grim"
        r"|rotten|dreadful|glorious|such|some|weird|strange|this) ){1,4}(?:weather|sunshine|rain"
        r"|day|morning|evening|sunset)(?: (?:out(?: there)?|outside|today|tonight|isn['’]t it|again"
        r"|we['’]?re having))*"
    ),
    (
        r"(?:i (?:really |just )?(?:like|love|enjoy|appreciate|miss(?:ed)?)|love) (?:(?:your|the)"
        r" (?:voice|accent|jokes?|humou?r|company|name|style|answers?|help)"
        r"|(?:talking|chatting|speaking) (?:to|with) you|you|it|that)"
    ),
    (
        r"you(?:['’]ve)? (?:really )?(?:made (?:my (?:day|morning|evening|week)|me (?:laugh|smile))"
        r"|cheered me up|crack me up|are the best|make me (?:laugh|smile)|helped(?: me)?)"
    ),
    (
        r"(?:nice|good|great|lovely|pleased|happy) to (?:meet|see|hear|hear from|talk to|talk with"
        r"|speak to|speak with|chat with|have) you(?: again)?"
    ),
    r"that (?:really )?(?:helps?|helped|cheered me up|made me (?:laugh|smile))(?: (?:me|a lot))*",
    (
        r"well done|nicely done|good (?:job|one|boy|girl|bot|robot|stuff|work|answer|point"
        r"|question|idea|luck|on you|for you)|nice (?:one|job|work|try)|fair play"
    ),
)
"""Comments on the bot, the weather and what was said."""

PRAISE: Final = _ADJECTIVES.replace("|enough|all|it|", "|")
"""A remark of one word."""

EXCLAMATIONS: Final = (
    r"wow|ugh|phew|whew|yay|yikes|ouch|oops|whoops|blimey|gosh|crikey|jeez|damn(?: it)?|dear me"
    r"|oh dear|(?:oh )?my (?:god|goodness|word|gosh)|good (?:grief|heavens|lord|god)|goodness"
    r"(?: me)?|for (?:god|goodness|heaven|pete)['’]?s sake|bloody hell"
    r"|i['’]?ll be (?:damned|blowed)|well i never|i never|no way|no kidding"
    r"|you['’]?re (?:kidding|joking)|you don['’]?t say"
    r"|get out of here|as if|whatever|who cares|never mind me|here we go|there (?:you|we) go"
    r"|thank god|thank goodness|touch wood|hooray|hurrah|boo|seriously|really|honestly|huh|eh",
    r"(?:i['’]?m|i am) (?:so |very |just |only )?(?:sorry|impressed|kidding|joking|back|here|off"
    r"|done|listening|bored|all right)",
)
"""Exclamations, which state nothing."""

ORDERS: Final = (
    r"stop(?: it| that| talking| now| there)*|that['’]?ll do|(?:be )?quiet|shut up|shush|hush"
    r"|silence|louder|quieter|slower|speak (?:up|louder|slower|more slowly)|slow down"
    r"|say (?:that|it) (?:again|once more)|repeat(?: (?:that|it|yourself))?|come again|once more"
    r"|one more time|i didn['’]?t (?:quite )?(?:catch|hear|get) (?:that|you)|carry on|continue"
    r"|keep going|start over|try again|forget (?:it|about it)|leave it|scrap that|cancel that"
    r"|give me a (?:sec(?:ond)?|minute|moment)|hang on(?: a (?:sec(?:ond)?|minute|moment))?"
    r"|let me think|wake up|are you (?:still )?(?:there|listening|awake)|you (?:still )?there"
    r"|testing(?: testing)?|check(?: check)?",
    r"(?:set (?:the )?)?volume (?:to )?(?:up|down|max(?:imum)?|full|half|\d+|one|two|three|four"
    r"|five|six|seven|eight|nine|ten)(?: percent)?",
)
"""Orders to the bot about the conversation itself."""

TO_A_FRIEND: Final = (
    r"(?:(?:good )?(?:evening|morning|afternoon|day)|hello|hi|hey|thanks|thank you|bye"
    r"|night|cheers|yes|no|ok|okay|well|sorry|there)[, ]+my (?:(?:good|dear|old|lovely) )?"
    r"(?:friend|dear|darling|love|lovely|man|boy|girl|duck|robot|assistant)"
)
"""A courtesy with an address: "Evening, my friend"."""
