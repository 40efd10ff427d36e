"""Function words of languages other than English, most frequent ones first.

A text with several of them is of that language (`hotmem.text.language_detection`). In a question
they are no search terms.
"""

from collections.abc import Mapping
from typing import Final

from hotmem.text.word_sets import wordlist

FUNCTION_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "ca": wordlist(
        "el la els les un una uns unes i o que de del dels amb per en a al als és són era està hi"
        " ha he has hem han no sí molt més però com quan on qui què quin quina meu meva nostre seu"
        " seva jo tu ell ella nosaltres em et es ens us li aquest aquesta això tinc vull avui demà"
        " ahir"
    ),
    "da": wordlist(
        "og i jeg det at en den til er som på de med han af for ikke der var mig sig men et har om"
        " vi min havde ham hun nu over da fra du ud sin dem os op man hans hvor eller hvad skal"
        " selv her alle vil blev kunne ind når være noget mit mine dig også hvem hvornår kan hedder"
        " bor meget"
    ),
    "de": wordlist(
        "der die das und ich ist nicht ein eine einen einem einer eines zu in den dem des mit auf"
        " für von im am an es er sie wir ihr du mich mir dich dir uns euch ihm ihn ihnen mein meine"
        " meinen meinem meiner dein deine deinen sein seine seinen ihre ihren unser unsere unserer"
        " hat habe haben hatte hatten hast war waren wird werden wurde würde kann können muss"
        " müssen soll will möchte mag bin bist sind seid auch noch nur aber oder wenn weil dass als"
        " wie was wer wo wann warum wohin woher welche welcher welches welchen wieviel viele viel"
        " mehr sehr schon gerade gern gerne gestern heute morgen jeden jede jeder etwas nichts"
        " keine keinen kein nach bei beim vom zum zur aus über unter um vor bis seit durch gegen"
        " ohne so dann da hier dort ja nein danke bitte sich man diese dieser dieses diesen wohnt"
        " heißt heiße"
    ),
    "es": wordlist(
        "el la los las un una unos unas y o que de del en a al es son está están era fue con por"
        " para no sí me te se nos le les lo mi mis tu tus su sus nuestro nuestra nuestros yo él"
        " ella ellos nosotros usted hay ha he has han había tengo tiene tenemos quiero quiere puedo"
        " puede muy más pero como cómo cuando cuándo donde dónde quién quiénes qué cuál cuáles"
        " cuánto cuánta cuántos cuántas porque sobre sin hasta desde entre este esta esto estos ese"
        " esa eso hoy ayer mañana también ya todo toda todos todas cada algo algún nada voy vive"
        " llamo llama gusta gustan estoy soy hola gracias bueno ahora antes después"
    ),
    "fi": wordlist(
        "ja on ei se että minä sinä hän me te he en et ole oli olen olet ovat mutta kun niin myös"
        " jos kuin tai mitä mikä missä milloin kuka miksi minun sinun hänen meidän nyt tämä joka"
        " vain minulla hänellä sitten jo vielä kanssa tänään huomenna eilen kiitos"
    ),
    "fr": wordlist(
        "le la les un une des et ou que qui de du en à au aux j l d n m t s c qu est sont était"
        " sera être avec pour par dans sur sous sans chez ne pas plus je tu il elle on nous vous"
        " ils elles me te se lui leur leurs y mon ma mes ton ta tes son sa ses notre nos votre vos"
        " ce cet cette ces ça ai as a avons avez ont avait suis es sommes êtes fait faire peux peut"
        " veux veut dois doit va vais vont très mais comme quand où quel quelle quels quelles quoi"
        " comment combien pourquoi parce tout tous toute toutes chaque aussi bien hier demain"
        " aujourd hui avant après oui non merci appelle habite aime"
    ),
    "hu": wordlist(
        "a az és hogy nem is egy ez van volt de meg csak már ha mint én te ő mi ti ők vagy vagyok"
        " nekem mert majd most igen itt ott ki mit hol mikor miért nagyon minden hozzá még lesz ma"
        " holnap tegnap köszönöm"
    ),
    "id": wordlist(
        "yang dan di ke dari ini itu dengan untuk tidak saya aku kamu dia kami kita mereka adalah"
        " ada akan sudah pada juga atau karena bisa apa siapa mana kapan bagaimana saja nya lagi"
        " tadi besok kemarin rumah terima kasih"
    ),
    "it": wordlist(
        "il lo la i gli le un uno una e o che di del della dei delle da dal in nel nella a al alla"
        " con per su sul non sì mi ti si ci vi lui lei noi voi loro mio mia miei mie tuo tua suo"
        " sua nostro è sono era ho hai ha abbiamo hanno sei siamo essere molto più ma come quando"
        " dove chi cosa quale quali quanto perché questo questa quello quella anche oggi ieri"
        " domani tutto tutti ogni io tu c l d dell all nell grazie voglio posso chiama vivo"
    ),
    "nl": wordlist(
        "de het een en ik is niet van in op te dat die er met voor zijn was aan bij ook maar als"
        " dan om we je jij hij zij ze mij me mijn jouw haar hun ons onze heb hebt heeft had hebben"
        " ben bent wordt worden kan kunnen moet moeten wil nog wel geen naar uit over door tot wat"
        " wie waar wanneer hoe waarom welke veel meer heel gisteren vandaag morgen dit deze elke"
        " iets niets"
    ),
    "no": wordlist(
        "og i jeg det at en et den til er som på de med han av ikke der så var meg seg men har om"
        " vi min mitt hadde hun nå fra du ut sin dem oss opp hva hvor eller skal selv her alle vil"
        " ble kunne når være noe også hvem kan heter bor for veldig mye"
    ),
    "pl": wordlist(
        "i w z na do nie się to że jest jak ale po co tak o od za już czy tylko mnie ja ty on ona"
        " my być był była moja mój mam ma są dla przez kiedy gdzie kto dlaczego bardzo dziś jutro"
        " wczoraj dziękuję tego jestem"
    ),
    "pt": wordlist(
        "o a os as um uma uns umas e ou que de do da dos das em no na nos nas ao à é são está"
        " estão era foi com por para pelo pela não sim me te se lhe meu minha meus minhas teu tua"
        " seu sua nosso nossa eu ele ela eles nós você vocês há tem tenho tinha temos quero posso"
        " pode muito mais mas como quando onde quem qual quais quanto porque sobre sem até este"
        " esta isso esse essa hoje ontem amanhã também já tudo todos cada obrigado obrigada"
    ),
    "ro": wordlist(
        "și în la de cu nu este sunt era pe că un o din pentru mai ce eu tu el ea noi voi ei am ai"
        " are avem au dar sau când unde cine cum cât meu mea ta lui foarte acum azi mâine ieri după"
        " vreau"
    ),
    "sv": wordlist(
        "och i jag det att en ett den till är som på de med han av för inte var mig sig men har om"
        " vi min mitt mina hade hon nu från du ut sin dem oss upp vad eller ska själv här alla vill"
        " blev kunde när vara något också vem hur kan heter bor mycket"
    ),
    "tr": wordlist(
        "ve bir bu da de için ben sen o biz siz onlar ne var yok çok ama gibi daha ile mi mı mu mü"
        " benim senin onun bizim kim nerede nasıl neden zaman kadar sonra her şey değil evet hayır"
        " dün bugün yarın"
    ),
    "ja": wordlist(
        "です ます まし した たか すか でし たっ っけ ませ せん いま いる あり ある"
        " ので から この その どこ 何 なに どん んな いつ だれ いく くら こと もの"
        " ましょ ょう しょ うか のは のが のを という とい いう って たの のです てい"
        " にな なり れば けれ ども さん は が を に で と も の か よ ね"
    ),
    "zh": wordlist(
        "什么 怎么 哪里 哪儿 哪天 谁 的 了 是 我 你 他 她 在 有 吗 呢 我们 你们"
        " 他们 多少 时候 么时 的是 是什 是谁 是关 了什 了多 在哪 的名 了我 我的 我家"
    ),
}
"""Words by language, in lower case with their diacritics; for Japanese and Chinese the pairs of
characters that they are cut into."""

SHARED_WORDS: Final = wordlist(
    "door mint ya co comment llama jo ella ama c d l m n s t de del la el los las le les du des da"
    " das dos do di van der den von al un una en in on as is for has he me no so an am was war die"
    " are us at be we over and her had how men man min op up till son plus ha er um au ta met ben"
    " bin na ne pas sin come sur per par era hun hans fra kan fan ma mi te se si tu ti ton mes mon"
    " lo nos tus os com sem sino po to od my by za tak mam ty bij dan hem nog wel ook mit est sua"
    " suo que con hat dem dir wo als vor hier ja nein bitte danke hola gracias merci ciao salut oui"
    " sera tout bon all dig det sig bir ki ke ada dia ini apa sana lui ai non sunt nu cu pe din ea"
    " ei ar"
)
"""Words that English sentences, exclamations and names have too: alone they are no sign of another
language."""
