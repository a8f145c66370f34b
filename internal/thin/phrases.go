// What walls say, in the languages in which most of them say it. Texts are compared folded: lower case, plain
// apostrophes. A phrase alone proves nothing; each rule asks for a short page, and mostly for a mark in its markup.

package thin

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

func containsAny(text string, phrases []string) bool {
	if text == "" {
		return false
	}
	for _, p := range phrases {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// matchesAny looks for a line that is one of the names, signs at its ends aside.
func matchesAny(text string, names map[string]bool) bool {
	for line := range strings.SplitSeq(text, "\n") {
		for _, part := range titleParts(line) {
			if names[strings.Trim(part, " .!?:…-–—|•·→»")] {
				return true
			}
		}
	}
	return false
}

func itoa(n int) string { return strconv.Itoa(n) }

// signInNames are headings and titles of sign-in pages.
var signInNames = set(phrases(
	`sign in|signin|log in|login|log on|sign in to continue|log in to continue|member login|user login|account login|customer login`,
	`sign in to your account|log in to your account|login to your account|please sign in|please log in|please login`,
	`sign in or register|log in or sign up|login or register|sign in or sign up|sign in with your account|single sign-on`,
	`anmelden|anmeldung|einloggen|login erforderlich|bitte anmelden|bitte melden sie sich an|connexion|se connecter|connectez-vous|identification|identifiez-vous`,
	`iniciar sesión|inicia sesión|inicie sesión|acceder|ingresar|accedi|accesso|entrar|acessar|fazer login|iniciar sessão|inloggen|aanmelden`,
	`logga in|log ind|logg inn|kirjaudu|kirjaudu sisään|zaloguj|zaloguj się|logowanie|přihlášení|přihlásit se|войти|вход|авторизация|увійти|вхід`,
	`bejelentkezés|σύνδεση|giriş|giriş yap|oturum aç|đăng nhập|masuk|登录|登入|请登录|請登入|ログイン|サインイン|로그인|تسجيل الدخول|התחברות|เข้าสู่ระบบ`,
))

// demandPhrases say that one has to sign in to see the page.
var demandPhrases = phrases(
	`sign in to continue|log in to continue|login to continue|sign in to view|log in to view|login to view|sign in to access|log in to access`,
	`sign in to see|log in to see|sign in to read|log in to read|must be logged in|must be signed in|must log in|must sign in|must login`,
	`need to be logged in|need to log in|need to sign in|need to be signed in|have to be logged in|have to log in|please log in to|please sign in to|please login to`,
	`login required|log in required|requires you to sign in|requires you to log in|requires authentication`,
	`anmelden, um|melden sie sich an, um|melde dich an, um|bitte loggen sie sich ein|müssen angemeldet sein|musst angemeldet sein|müssen eingeloggt sein|müssen sich anmelden|nur für angemeldete`,
	`connectez-vous pour|identifiez-vous pour|vous devez être connecté|vous devez vous connecter|inicia sesión para|inicie sesión para|debes iniciar sesión|debe iniciar sesión|tienes que iniciar sesión`,
	`accedi per|effettua l'accesso per|effettua il login per|devi accedere|devi effettuare il login|faça login para|entre para continuar|você precisa estar logado|precisa fazer login|inicie sessão para`,
	`log in om|inloggen om|je moet ingelogd zijn|u moet ingelogd zijn|logga in för att|du måste vara inloggad|log ind for at|logg inn for å|kirjaudu sisään nähdäksesi`,
	`zaloguj się, aby|musisz się zalogować|musisz być zalogowany|pro pokračování se přihlaste|musíte se přihlásit|войдите, чтобы|необходимо войти|необходимо авторизоваться|требуется авторизация|увійдіть, щоб`,
	`devam etmek için giriş|giriş yapmalısınız|请先登录|请登录后|登录后查看|登录后继续|請先登入|ログインしてください|ログインが必要|로그인이 필요|로그인 후|يجب تسجيل الدخول`,
)

// besideWords say that signing in is only needed for something beside reading the page.
var besideWords = phrases(
	`comment|reply|review|rating|to rate|vote|to like|follow|save|wishlist|cart|price|kommentar|antworten|bewert|preis|commentaire|répondre|prix|coment|respond|precio|preço`,
	`commento|comment|recensi|prezzo|reactie|reageren|prijs|kommentera|kommentere|komentarz|komentář|коммент|комент|yorum|コメント|评论|評論|价格|댓글`,
)

// demandsSignIn looks for a demand that is not made for something beside reading.
func demandsSignIn(text string) bool {
	for _, p := range demandPhrases {
		for rest := text; ; {
			_, after, found := strings.Cut(rest, p)
			if !found {
				break
			}
			sentence, _, _ := strings.Cut(after, ".")
			if !containsAny(cut(sentence, 80), besideWords) {
				return true
			}
			rest = after
		}
	}
	return false
}

// offerPhrases stand where a text is cut for those who have not paid.
var offerPhrases = sync.OnceValue(func() *index { return newIndex(slices.Concat(soldPhrases, teaserPhrases)) })

// soldIndex and restIndex are two of the lists below.
var (
	soldIndex = sync.OnceValue(func() *index { return newIndex(soldPhrases) })
	restIndex = sync.OnceValue(func() *index { return newIndex(restPhrases) })
)

// soldPhrases say that the text is for those who pay or register, or ask whether one does.
var soldPhrases = phrases(
	`subscribe to keep reading|subscribe to continue|subscribe to read|subscribe now to read|subscribe for full access|subscribe to unlock|subscribe to view`,
	`for subscribers only|is for subscribers|for paid subscribers|subscriber-only|subscriber only|subscribers only|exclusive to subscribers|exclusively for subscribers|available to subscribers|reserved for subscribers`,
	`already a subscriber|already subscribed?|already a member? sign in|unlock this article|unlock this story|free articles left|free articles remaining|your last free article|reached your limit of|reached your article limit`,
	`this article is for members|member-only story|start your free trial to read|create a free account to read|register to read|register to continue reading`,
	`nur für abonnent|exklusiv für abonnent|exklusiv für unsere abonnent|nur für digitalabonnent|abonnenten vorbehalten|abonnentinnen vorbehalten|nur mit abo lesbar|nur mit einem abo|nur für mitglieder lesbar|dieser artikel ist kostenpflichtig|dieser inhalt ist kostenpflichtig|kostenpflichtiger inhalt|artikel freischalten`,
	`bereits abonnent|schon abonnent|sie sind bereits abonnent|bereits ein abo?|schon ein abo?|sie haben bereits ein abo|du hast bereits ein abo|sie haben schon ein abo|registrieren und weiterlesen|anmelden und weiterlesen|sie wollen weiterlesen|sie möchten weiterlesen|du möchtest weiterlesen|du willst weiterlesen`,
	`réservé aux abonnés|réservée aux abonnés|réservés aux abonnés|réservé à nos abonnés|réservée à nos abonnés|la suite est réservée|la suite de cet article est réservée|déjà abonné|cet article est réservé|vous êtes abonné ?|vous êtes déjà abonné`,
	`abonnez-vous pour lire|abonnez-vous pour continuer|abonnez-vous pour accéder à l'article|abonnez-vous pour poursuivre|inscrivez-vous pour lire|créez un compte pour lire|débloquez cet article`,
	`exclusivo para suscriptores|solo para suscriptores|sólo para suscriptores|ya eres suscriptor|ya soy suscriptor|ya es suscriptor|ya estás suscrito|ya está suscrito`,
	`suscríbete para leer|suscríbase para leer|suscríbete para seguir leyendo|suscríbete y sigue leyendo|suscríbete y continúa leyendo|reservado a suscriptores|reservado para suscriptores|reservado para nuestros suscriptores|regístrate para leer|regístrate y sigue leyendo`,
	`riservato agli abbonati|riservata agli abbonati|riservati agli abbonati|contenuto riservato|sei già abbonato|sei abbonato|già abbonato?|hai già un abbonamento|solo per abbonati|solo per gli abbonati|esclusiva per gli abbonati`,
	`abbonati per leggere|abbonati per continuare|abbonati e continua a leggere|registrati per leggere|registrati per continuare a leggere|sblocca l'articolo|sblocca questo articolo`,
	`exclusivo para assinantes|exclusiva para assinantes|exclusivo dos assinantes|exclusiva dos assinantes|só para assinantes|somente para assinantes|apenas para assinantes|reservado a assinantes|restrito a assinantes|já é assinante|já sou assinante|conteúdo exclusivo para`,
	`assine para ler|assine para continuar|assine e continue lendo|cadastre-se para ler|cadastre-se para continuar lendo|registe-se para ler|registe-se para continuar a ler`,
	`alleen voor abonnees|exclusief voor abonnees|enkel voor abonnees|voorbehouden aan abonnees|voorbehouden voor abonnees|al abonnee|heb je al een abonnement|heeft u al een abonnement|al een abonnement?|abonneer je en lees|abonneer u en lees|abonneer je om verder|abonneer u om verder|maak een gratis account om verder`,
	`bara för prenumeranter|redan prenumerant|kun for abonnenter|allerede abonnent|tilaajille|vain tilaajille`,
	`tylko dla prenumeratorów|tylko dla subskrybentów|pro předplatitele|только для подписчиков|доступно подписчикам|оформите подписку`,
	`続きは会員|続きは有料|この先は有料|この先は会員|ここから先は有料|ここから先は会員|会員限定|有料会員|有料記事です|購読者限定|会員登録して続き|登録して続きを|登録すると続き|会員になると続き|この記事は会員|この記事は有料`,
	`订阅后阅读|订阅以继续|会员专享|付费阅读|訂閱以繼續|구독자 전용|유료 회원`,
)

// teaserPhrases are on walls as well as in teasers of texts that are free.
var teaserPhrases = phrases(
	`to continue reading|to keep reading|to read the full|to read this article|to read the rest|keep reading with|continue reading with|continue reading your article|the rest of this article is|unlock the full|unlock full access|reached your free`,
	`jetzt weiterlesen|weiterlesen mit|um weiterzulesen|um diesen artikel zu lesen|jetzt freischalten`,
	`pour lire la suite|il vous reste|lire la suite de l'article`,
	`para seguir leyendo|para continuar leyendo|sigue leyendo con|per continuare a leggere|para continuar lendo`,
	`om verder te lezen|verder lezen?|för att läsa vidare|for at læse videre|for å lese videre`,
	`dalsza część artykułu|aby czytać dalej|続きを読むには`,
)

// restPhrases speak of reading the rest of a text. What they ask for it stands in the same sentence.
var restPhrases = slices.Concat(teaserPhrases, phrases(
	`um weiter zu lesen|um den ganzen artikel zu lesen|um den vollständigen artikel|den ganzen artikel lesen|möchten sie weiterlesen|wollen sie weiterlesen|zum weiterlesen|und weiterlesen`,
	`pour continuer la lecture|pour continuer votre lecture|pour poursuivre la lecture|pour poursuivre votre lecture|pour continuer à lire|pour lire cet article|pour lire l'article|pour lire l'intégralité|accéder à l'intégralité`,
	`para leer este artículo|para leer el artículo completo|para leer la noticia completa|y sigue leyendo|para acceder al artículo completo`,
	`per continuare la lettura|per proseguire la lettura|per leggere questo articolo|per leggere l'articolo completo|per leggere tutto l'articolo|e continua a leggere`,
	`para continuar a ler|para ler este artigo|para ler o artigo completo|para ler a matéria completa|para ler esta matéria|e continue lendo`,
	`om dit artikel te lezen|om het hele artikel te lezen|om het volledige artikel te lezen|en lees verder`,
	`続きをお読みいただくには|続きを読む|全文を読むには|全文をお読みいただくには|全文を読む`,
))

// sellWords are what such a sentence asks for.
var sellWords = phrases(
	`subscri|sign up|register|free trial|membership|abonn|ein abo|mit abo|abo abschließen|digitalabo|digital-abo|probeabo|registrier|freischalt|s'inscrire|inscrivez`,
	`suscri|suscrí|subscrev|regístr|registr|assine|assinatura|assinante|cadastr|abbona|iscriviti|購読|会員|有料`,
)

// labelsStories says that a text says the same of several things, as a list of stories does of those that are sold.
func labelsStories(text string) bool {
	const several = 4
	for _, p := range soldPhrases {
		if strings.Count(text, p) >= several {
			return true
		}
	}
	return false
}

// sold says that a text's rest is for those who pay or register.
func sold(text string) bool {
	if soldIndex().in(text) {
		return true
	}
	if !restIndex().in(text) {
		return false
	}
	for sentence := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\n' || c == '.' || c == '!' || c == '。' }) {
		if restIndex().in(sentence) && containsAny(sentence, sellWords) {
			return true
		}
	}
	return false
}

// offerLabels are on buttons and links that stand below such a text.
var offerLabels = phrases(
	`subscri|unlock|see plans|view plans|register|sign up|log in|abonn|freischalten|testen|registrier|s'inscrire|inscrivez|suscri|suscrí|subscrev|registr|regíst|assin|cadastr|abbona|prenum|tilaa|prenumeruj|předplat|подпис|購読|登録|会員|订阅|訂閱|구독`,
)

// acceptPhrases are on the buttons of consent requests.
var acceptPhrases = phrases(
	`accept|agree|allow all|allow cookies|consent|got it|i'm ok|akzeptier|zustimm|einverstanden|annehmen|alle erlauben|accepter|j'accepte|tout accepter|aceptar|acepto`,
	`accett|aceitar|aceito|concordo|accepteren|akkoord|toestaan|godkänn|acceptera|tillad|accepter|godta|hyväksy|akceptuj|zgadzam|přijmout|souhlasím|prijať|принять|согласен|прийняти|elfogad|αποδοχή|αποδέχομαι`,
	`kabul|chấp nhận|đồng ý|setuju|terima|同意|接受|允许|同意する|許可|동의|수락|موافق|قبول|אישור|ยอมรับ`,
)

// consentPhrases name what a consent request is about.
var consentPhrases = phrases(
	`cookie|our partners|and partners|information on your device|information on a device|personal data|your privacy|consent`,
	`einwilligung|datenschutz|privatsphäre|partenaires|vie privée|socios|privacidad|parceiros|données personnelles|consentement|nuestros socios|datos personales|consentimiento|partner|dati personali|consenso`,
	`nossos parceiros|dados pessoais|persoonsgegevens|toestemming|персональн|個人情報|クッキー|隐私|쿠키|개인정보`,
)

// consentHeadings are titles of pages that only ask for consent.
var consentHeadings = phrases(
	`before you continue|before you proceed|your privacy|we value your privacy|we care about your privacy|we respect your privacy|privacy settings|cookie consent|cookie settings`,
	`your privacy choices|privacy preference|cookies and privacy|is part of the|we use cookies|this site uses cookies|this website uses cookies|consent`,
	`weiter mit werbung|weiterlesen mit werbung|mit werbung lesen|lees verder met cookies|bevor sie|bevor du|bevor es weitergeht|privatsphäre|datenschutzeinstellungen|ihre einwilligung|wir verwenden cookies|wir nutzen cookies|cookie-einstellungen|avant d'accéder|avant de continuer|votre vie privée|respect de votre vie privée|nous utilisons des cookies|gestion des cookies`,
	`antes de continuar|antes de ir a|tu privacidad|su privacidad|valoramos su privacidad|utilizamos cookies|usamos cookies|sua privacidade|prima di continuare|prima di procedere|la tua privacy|utilizziamo i cookie`,
	`voordat je verdergaat|voordat u verdergaat|jouw privacy|uw privacy|wij gebruiken cookies|we gebruiken cookies|innan du fortsätter|din integritet|vi använder cookies|før du fortsætter|før du fortsetter|zanim przejdziesz|twoja prywatność|používáme cookies|než budete pokračovat`,
	`прежде чем продолжить|мы используем cookie|续前|在您继续|续前往|続行する前に|계속하기 전에`,
)

// robotPhrases doubt that a person reads the page.
var robotPhrases = phrases(
	`not a robot|are you a robot|are you human|are a human|you are human|you're human|that you are not a bot|you're not a bot|not a bot|verify that you are not|verify you are not|human verification|bot verification`,
	`unusual traffic|unusual activity from|suspicious activity from|automated access|automated queries|automated requests|automated traffic|automated tool|checking your browser|checking if the site connection|press & hold|press and hold`,
	`pardon our interruption|security check to|complete the security check|ddos protection|browser verification|verifying your browser|verify your browser|verifying you are human|verifies that you are|review the security of your connection|solve the captcha|complete the captcha|enter the characters you see|just a moment...|just a moment…`,
	`kein roboter|ein mensch sind|kein bot|sicherheitsüberprüfung|ungewöhnlichen datenverkehr|pas un robot|êtes humain|êtes un humain|vérification de sécurité|no eres un robot|no soy un robot|eres humano|verificación de seguridad|non sei un robot|non sono un robot|sei umano`,
	`não é um robô|não sou um robô|é humano|geen robot|een mens bent|inte en robot|ikke en robot|ikke er en robot|et ole robotti|nie jesteś robotem|nejste robot|не робот|вы человек|проверка браузера|robot olmadığınız|không phải là người máy`,
	`人机验证|不是机器人|机器人验证|安全验证|不是機器人|ロボットではありません|ロボットでない|로봇이 아닙니다|لست روبوت`,
)

// scriptDemand asks for scripts: a verb of switching on or needing, near the one word that all languages share.
var scriptDemand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)(?:` + scriptVerbs + `).{0,40}java ?script|java ?script.{0,40}(?:` + scriptVerbs + `)`)
})

const scriptVerbs = `enable|turn on|switch on|activate|require|need|disabled|without|aktivier|einschalten|benötig|deaktivier|activ|désactiv|nécessite|habilit|requier|abilit|` +
	`attiva|richiede|ativ|inschakel|vereist|slå på|kräver|kræver|krever|käyttöön|włącz|wymaga|povol|zapn|vyžad|включ|требу|увімкн|kapcsolja|etkinleştir|bật|aktifkan|启用|開啟|啟用|有効|활성화|تفعيل`

// loadingLine: one line of a short text says that the page loads. Beside others it has to say nothing else, or to end
// in dots.
func loadingLine(text string) bool {
	alone := !strings.Contains(text, "\n")
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.Trim(line, " .…!")
		waits := alone || strings.HasSuffix(line, "…") || strings.HasSuffix(line, "...")
		for _, p := range loadingWords {
			if bare == p || waits && (strings.HasPrefix(bare, p) || strings.HasSuffix(bare, p)) {
				return true
			}
		}
	}
	return false
}

var loadingWords = phrases(
	`loading|please wait|one moment|initializing|wird geladen|lädt|laden|bitte warten|chargement|veuillez patienter|cargando|espere por favor|caricamento|attendere|carregando|aguarde`,
	`bezig met laden|even geduld|laddar|indlæser|laster|ladataan|ładowanie|proszę czekać|načítání|загрузка|подождите|завантаження|yükleniyor|đang tải|memuat|加载中|正在加载|載入中|読み込み中|로딩 중|로드 중|جاري التحميل|טוען`,
)

// phrases are written one group of languages a line, a bar between two.
func phrases(lines ...string) []string {
	return strings.Split(strings.Join(lines, "|"), "|")
}

func set(names []string) map[string]bool {
	m := map[string]bool{}
	for _, name := range names {
		m[name] = true
	}
	return m
}
