// What walls say, in the languages in which most of them say it. Texts are compared folded: lower case, plain
// apostrophes. A phrase alone proves nothing; each rule asks for a short page, and mostly for a mark in its markup.

package thin

import (
	"regexp"
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
var offerPhrases = phrases(
	`subscribe to keep reading|subscribe to continue|subscribe to read|subscribe now to read|subscribe for full access|subscribe to unlock|subscribe to view`,
	`to continue reading|to keep reading|to read the full|to read this article|to read the rest|keep reading with|continue reading with|continue reading your article`,
	`for subscribers only|is for subscribers|for paid subscribers|subscriber-only|subscriber only|subscribers only|exclusive to subscribers|exclusively for subscribers|available to subscribers|reserved for subscribers`,
	`already a subscriber|already subscribed?|already a member\? sign in|unlock this article|unlock the full|unlock this story|unlock full access|free articles left|free articles remaining|your last free article|reached your free|reached your limit of|reached your article limit`,
	`this article is for members|member-only story|the rest of this article is|start your free trial to read|create a free account to read|register to read|register to continue reading`,
	`jetzt weiterlesen|weiterlesen mit|um weiterzulesen|sie wollen weiterlesen|um diesen artikel zu lesen|nur für abonnenten|exklusiv für abonnenten|bereits abonnent|sie sind bereits abonnent|jetzt freischalten|artikel freischalten`,
	`réservé aux abonnés|réservée aux abonnés|pour lire la suite|la suite est réservée|déjà abonné|cet article est réservé|il vous reste|lire la suite de l'article`,
	`exclusivo para suscriptores|solo para suscriptores|para seguir leyendo|para continuar leyendo|sigue leyendo con|ya eres suscriptor|ya soy suscriptor`,
	`per continuare a leggere|riservato agli abbonati|contenuto riservato|sei già abbonato|sei abbonato|exclusivo para assinantes|para continuar lendo|já é assinante|conteúdo exclusivo para`,
	`om verder te lezen|verder lezen\?|alleen voor abonnees|exclusief voor abonnees|al abonnee|för att läsa vidare|bara för prenumeranter|redan prenumerant|for at læse videre|kun for abonnenter|for å lese videre|allerede abonnent|tilaajille|vain tilaajille`,
	`dalsza część artykułu|tylko dla prenumeratorów|tylko dla subskrybentów|aby czytać dalej|pro předplatitele|только для подписчиков|доступно подписчикам|оформите подписку`,
	`続きを読むには|会員限定|有料会員|この記事は会員|订阅后阅读|订阅以继续|会员专享|付费阅读|訂閱以繼續|구독자 전용|유료 회원`,
)

// offerLabels are on buttons that stand below such a text.
var offerLabels = phrases(
	`subscri|unlock|see plans|view plans|register|sign up|log in|abonn|freischalten|testen|s'inscrire|suscri|registr|assin|abbona|prenum|tilaa|prenumeruj|předplat|подпис|購読|登録|订阅|訂閱|구독`,
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
