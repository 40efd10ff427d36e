"""How a search names a kind of memory: its nouns, and the questions that ask for it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class RequestedKind(StrEnum):
    """What kind of memory a search can ask for."""

    REMINDERS = "reminders"
    PREFERENCES = "preferences"
    RULES = "rules"
    SKILLS = "skills"
    LEARNINGS = "learnings"
    PROJECTS = "projects"
    INTERACTIONS = "interactions"
    REFERENCES = "references"
    CONTEXTS = "contexts"
    DECISIONS = "decisions"
    LINKS = "links"
    CODE = "code"
    NOTES = "notes"
    """Any memory."""


NOUNS: Final[Mapping[RequestedKind, str]] = {
    RequestedKind.REMINDERS: r"reminders?|to-?do(?:'?s| lists?)?|to do(?:'?s| lists?)|task lists?"
    r"|tasks|errands|chores|agenda|deadlines|due dates|appointments|things to (?:do|remember)",
    RequestedKind.PREFERENCES: r"preferences?|likes and dislikes|favou?rites",
    RequestedKind.RULES: r"rules|instructions|settings|standing orders"
    r"|(?:system|assistant|bot) notes",
    RequestedKind.SKILLS: r"skills|abilities",
    RequestedKind.LEARNINGS: r"learnings"
    r"|lessons (?:(?:that )?(?:i|we)(?:'ve| have)? )?learn(?:ed|t)|know-how|insights?|findings"
    r"|takeaways|discoveries|tips(?: and tricks)?|tricks",
    RequestedKind.PROJECTS: r"projects|work in progress|ongoing work",
    RequestedKind.INTERACTIONS: r"conversations|talks|chats|discussions|meetings|calls"
    r"|phone calls|interactions|encounters",
    RequestedKind.REFERENCES: r"references?|reference (?:material|information|data)"
    r"|(?:things|facts|stuff) to look up",
    RequestedKind.CONTEXTS: r"contexts?|background(?: information)?|circumstances"
    r"|personal (?:details|information|facts)"
    r"|(?:things|everything|facts|notes|anything) about (?:me|myself|us)",
    RequestedKind.DECISIONS: r"decisions?|choices|agreements|resolutions",
    RequestedKind.LINKS: r"links?|urls?|bookmarks|web ?pages|web ?sites|web addresses|documents"
    r"|docs|pdfs|articles|guides|manuals|videos|templates|checklists|leaflets|files",
    RequestedKind.CODE: r"(?:code |shell )?(?:snippets?|commands?|scripts?|one-?liners?)"
    r"|(?:source|program|python|java|javascript|sql|css|html|shell|bash) code|formulas|macros"
    r"|programming|coding",
    RequestedKind.NOTES: r"notes?|memories|memory|things|thing(?= (?:i|we) )|stuff|entries|items"
    r"|anything|everything|something|all|information|info|material|details|facts",
}
"""The nouns of each kind, as a search names it."""

QUESTIONS: Final[Mapping[RequestedKind, str]] = {
    RequestedKind.REMINDERS: r"what(?: else)? (?:do (?:i|we) (?:still |also )?(?:have|need)"
    r"|have (?:i|we)(?: still)? got|(?:i|we) (?:still |also )?(?:have|need)"
    r"|(?:am i|are we) (?:still )?supposed)"
    r" to (?:do|get done|remember"
    r"|(?=buy|order|book|pay|send|call|ring|bring|prepare|finish|return|renew))"
    r"|what(?: else)? (?:must|should) (?:i|we) (?:still |not |n't )*"
    r"(?:do(?! (?:about|with|if|to|when))|remember|forget)"
    r"|(?:is there )?anything (?:i|we) (?:should|must|have to|need to)(?: not)? "
    r"(?:do|remember|forget)"
    r"|(?:what|anything|what else)(?: is|'s)? (?:still )?"
    r"(?:due|open|pending|planned|scheduled|left to do|up next|coming up)"
    r"|what (?:has|needs) to be done"
    r"|what(?: is|'s) on my (?:to-?do )?list|what (?:must|should)n't (?:i|we) forget",
    RequestedKind.PREFERENCES: r"(?:things|stuff|everything|what)(?: that| do)? (?:i|we)"
    r"(?: really)? (?:like|love|prefer|enjoy|hate|dislike)(?=$)",
    RequestedKind.DECISIONS: r"(?:what|anything|everything|things|stuff|which)"
    r"(?: have| had| did| that)? (?:i|we)(?:'ve| have)? (?:decided?|agreed?|chosen|choose|chose"
    r"|settled?)(?: (?:on|upon|to do))?"
    r"|(?:did|have) (?:i|we) (?:decided?|agreed?)(?: on)? (?:anything|something)"
    r"|what (?:was|has been|is|have been) (?:decided|agreed)(?: (?:on|upon))?",
    RequestedKind.LEARNINGS: r"(?:what|anything|everything|things|stuff)"
    r"(?: have| had| did| that)? (?:i|we)(?:'ve| have)? (?:learn(?:ed|t)?|(?:found|find) out"
    r"|figured? out|discover(?:ed)?|reali[sz]ed?)",
    RequestedKind.RULES: r"how (?:(?:should|must) you|you (?:should|must))"
    r" (?=talk|speak|answer|behave|call)"
    r"|how the (?:assistant|bot) (?:should|must) (?=talk|speak|answer|behave|call)"
    r"|how i want you to"
    r"|how (?:do|did) i want you to",
    RequestedKind.PROJECTS: r"what (?:am i|are we) working on"
    r"|(?:things|stuff|what) (?:i'm|i am|we're|we are) working on",
    RequestedKind.LINKS: r"(?:what|anything|everything|things)(?: have| did)? (?:i|we)(?:'ve)?"
    r" bookmark(?:ed)?",
    RequestedKind.INTERACTIONS: r"(?:who|people)(?: did| have)? (?:i|we)(?:'ve| have)?"
    r" (?:talk(?:ed)?|spoken?|spoke|met|meet)(?: (?:to|with))?"
    r"|what (?:did |have )?(?:people|others) (?:told|tell|said|say)(?: (?:me|us))?",
    RequestedKind.NOTES: r"(?:what|anything|everything|things|stuff)"
    r"(?: have| had| did| that)? (?:i|we)(?:'ve| have)? (?:asked? you to (?:note|save|store|keep"
    r"|remember)|(?:noted?|saved?|stored?|wr[io]te|written|jot(?:ted)?|put|tell|told|add(?:ed)?"
    r"|record(?:ed)?)(?: (?:down|you))*)"
    r"|what(?: is|'s) new",
}
"""Questions that ask for a kind, from the start of the query."""
