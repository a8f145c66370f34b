// Soft paywalls: the beginning of a text, a sentence, and a plain link; and what only looks so.

package thin

import (
	"strings"
	"testing"
)

// opening is the beginning of an article in a language, and more the rest of it, long enough to be one.
var opening = map[string]struct{ lead, more string }{
	"German": {`<h1>Die Gezeitenmühle dreht sich wieder</h1><p>Im vergangenen Winter wurde die alte Gezeitenmühle an der Mündung des Flusses erneuert, und zum ersten Mal seit vierzig Jahren dreht sich ihr Rad zweimal am Tag.</p>`,
		`<p>Eine Gezeitenmühle hält die Flut hinter einem Tor zurück und lässt sie durch das Rad laufen, wenn das Meer gefallen ist.</p>`},
	"French": {`<h1>Le moulin à marée tourne de nouveau</h1><p>Le vieux moulin à marée, à l'embouchure de la rivière, a été rénové l'hiver dernier, et pour la première fois depuis quarante ans sa roue tourne deux fois par jour.</p>`,
		`<p>Un moulin à marée retient le flot derrière une porte et le laisse passer par la roue quand la mer est descendue.</p>`},
	"Spanish": {`<h1>El molino de mareas vuelve a girar</h1><p>El viejo molino de mareas de la desembocadura fue restaurado el invierno pasado, y por primera vez en cuarenta años su rueda gira dos veces al día.</p>`,
		`<p>Un molino de mareas retiene la pleamar tras una compuerta y la deja pasar por la rueda cuando el mar ha bajado.</p>`},
	"Italian": {`<h1>Il mulino a marea gira di nuovo</h1><p>Il vecchio mulino a marea alla foce del fiume è stato restaurato lo scorso inverno, e per la prima volta in quarant'anni la sua ruota gira due volte al giorno.</p>`,
		`<p>Un mulino a marea trattiene l'acqua dietro una paratoia e la lascia passare dalla ruota quando il mare è sceso.</p>`},
	"Portuguese": {`<h1>O moinho de maré volta a girar</h1><p>O velho moinho de maré na foz do rio foi restaurado no inverno passado, e pela primeira vez em quarenta anos a sua roda gira duas vezes por dia.</p>`,
		`<p>Um moinho de maré retém a enchente atrás de uma comporta e deixa-a passar pela roda quando o mar desceu.</p>`},
	"Dutch": {`<h1>De getijmolen draait weer</h1><p>De oude getijmolen aan de monding van de rivier is afgelopen winter hersteld, en voor het eerst in veertig jaar draait het rad twee keer per dag.</p>`,
		`<p>Een getijmolen houdt de vloed achter een sluis vast en laat die door het rad lopen als de zee gezakt is.</p>`},
	"Japanese": {`<h1>潮汐水車が再び回る</h1><p>河口にある古い潮汐水車が昨年の冬に修復され、四十年ぶりに一日二回その輪が回っている。</p>`,
		`<p>潮汐水車は満ち潮を水門の後ろにため、海が引いたときに輪を通して流す仕組みである。</p>`},
	"English": {`<h1>A tide mill turns again</h1><p>The old tide mill at the mouth of the river was rebuilt last winter, and for the first time in forty years its wheel turns twice a day.</p>`,
		`<p>A tide mill holds the flood behind a gate and lets it run back through the wheel once the sea has fallen.</p>`},
}

// walls are what stands below the beginning, with a plain link.
var plainWalls = map[string][]string{
	"German": {
		`<p>Dieser Artikel ist nur für Abonnentinnen und Abonnenten.</p><p><a href="/abo">Jetzt abonnieren</a></p>`,
		`<p>Sie möchten weiterlesen?</p><p><a href="/abo">Jetzt 4 Wochen für 1 € testen</a></p>`,
		`<p>Um weiterzulesen, schließen Sie bitte ein Abo ab. <a href="/abo">Abonnement wählen</a></p>`,
		`<p>Kostenlos registrieren und weiterlesen: <a href="/konto">Zur Registrierung</a></p>`,
		`<p>Sie haben bereits ein Abo? <a href="/konto">Hier anmelden</a> oder <a href="/abo">abonnieren</a></p>`,
	},
	"French": {
		`<p>La suite est réservée à nos abonnés.</p><p><a href="/offre">Je m'abonne</a></p>`,
		`<p>Pour poursuivre la lecture de cet article, abonnez-vous dès 1 € par mois. <a href="/offre">S'abonner</a></p>`,
		`<p>Déjà abonné ? <a href="/compte">Connectez-vous</a>, ou <a href="/offre">abonnez-vous</a></p>`,
	},
	"Spanish": {
		`<p>Contenido solo para suscriptores.</p><p><a href="/planes">Suscríbete</a></p>`,
		`<p>Para leer el artículo completo necesitas una suscripción. <a href="/planes">Suscripciones desde 1 €</a></p>`,
		`<p>Regístrate y sigue leyendo gratis. <a href="/registro">Registro</a></p>`,
	},
	"Italian": {
		`<p>Questo contenuto è riservato agli abbonati.</p><p><a href="/offerte">Abbonati</a></p>`,
		`<p>Per proseguire la lettura occorre un abbonamento. <a href="/offerte">Scopri gli abbonamenti</a></p>`,
	},
	"Portuguese": {
		`<p>Conteúdo exclusivo para assinantes.</p><p><a href="/planos">Assine já</a></p>`,
		`<p>Cadastre-se para ler esta matéria. <a href="/cadastro">Cadastro gratuito</a></p>`,
		`<p>Para continuar a ler este artigo, faça a sua assinatura. <a href="/planos">Assinar</a></p>`,
	},
	"Dutch": {
		`<p>Dit artikel is alleen voor abonnees.</p><p><a href="/abonnement">Abonneer je nu</a></p>`,
		`<p>Om het hele artikel te lezen heb je een abonnement nodig. <a href="/abonnement">Bekijk de abonnementen</a></p>`,
		`<p>Ben je al abonnee? <a href="/login">Log in</a> of <a href="/abonnement">abonneer je</a></p>`,
	},
	"Japanese": {
		`<p>この記事は有料会員限定です。</p><p><a href="/plan">購読のお申し込み</a></p>`,
		`<p>続きをお読みいただくには会員登録が必要です。<a href="/join">会員登録はこちら</a></p>`,
	},
	"English": {
		`<p>This story is for subscribers only.</p><p><a href="/plans">Subscribe</a></p>`,
		`<p>Sign up with your address to continue reading. <a href="/join">Sign up</a></p>`,
	},
}

func TestSoftPaywallsWithAPlainLink(t *testing.T) {
	var pages []page
	for language, walls := range plainWalls {
		lead := opening[language].lead
		for _, wall := range walls {
			pages = append(pages,
				page{language + ", " + wall, top + `<main><article>` + lead + wall + `</article></main>` + bottom, Paywall, 0},
				page{language + ", declared an article, with others beside it, " + wall, `<meta property="og:type" content="article">` + top + `<div>` + lead + wall + `</div><div>` +
					strings.Repeat(`<h3><a href="/x">`+strings.TrimSuffix(strings.TrimPrefix(strings.SplitAfter(lead, "</h1>")[0], "<h1>"), "</h1>")+`</a></h3>`, 12) + `</div>` + bottom, Paywall, 0},
				page{language + ", the whole text is there, " + wall, `<article>` + lead + strings.Repeat(opening[language].more, 12) + wall + `</article>`, "", 0})
		}
	}
	check(t, pages)
}

func TestWhatLooksLikeASoftPaywall(t *testing.T) {
	letters := map[string]string{
		"German":     `<p>Unser Newsletter kommt jeden Freitag.</p><p><a href="/newsletter">Newsletter abonnieren</a></p>`,
		"French":     `<p>Notre lettre paraît chaque vendredi.</p><p><a href="/lettre">S'abonner à la lettre</a></p>`,
		"Spanish":    `<p>Nuestro boletín sale cada viernes.</p><p><a href="/boletin">Suscríbete al boletín</a></p>`,
		"Italian":    `<p>La nostra lettera esce ogni venerdì.</p><p><a href="/lettera">Abbonati alla lettera</a></p>`,
		"Portuguese": `<p>O nosso boletim sai todas as sextas-feiras.</p><p><a href="/boletim">Assine o boletim</a></p>`,
		"Dutch":      `<p>Onze nieuwsbrief komt elke vrijdag.</p><p><a href="/nieuwsbrief">Abonneer je op de nieuwsbrief</a></p>`,
		"Japanese":   `<p>ニュースレターは毎週金曜日に届きます。</p><p><a href="/letter">ニュースレターを購読</a></p>`,
		"English":    `<p>Our letter comes every Friday.</p><p><a href="/letter">Subscribe to the letter</a></p>`,
	}
	teasers := map[string]string{
		"German":     `<p><a href="/2">Den ganzen Artikel lesen</a></p>`,
		"French":     `<p><a href="/2">Cliquez ici pour lire l'article</a></p>`,
		"Spanish":    `<p>3 minutos para leer este artículo. <a href="/2">Leer</a></p>`,
		"Italian":    `<p><a href="/2">Clicca qui per leggere tutto l'articolo</a></p>`,
		"Portuguese": `<p>3 minutos para ler este artigo. <a href="/2">Ler</a></p>`,
		"Dutch":      `<p><a href="/2">Klik hier om het hele artikel te lezen</a></p>`,
		"Japanese":   `<p><a href="/2">続きを読む</a></p>`,
		"English":    `<p><a href="/2">Click here to read the full story</a></p>`,
	}
	cards := map[string]string{
		"German": "Nur für Abonnenten", "French": "Réservé aux abonnés", "Spanish": "Solo para suscriptores", "Italian": "Riservato agli abbonati",
		"Portuguese": "Exclusivo para assinantes", "Dutch": "Alleen voor abonnees", "Japanese": "有料会員限定", "English": "For subscribers only",
	}
	var pages []page
	for language, text := range opening {
		headline := strings.TrimPrefix(strings.SplitAfter(text.lead, "</h1>")[0], "<h1>")
		headline = strings.TrimSuffix(headline, "</h1>")
		var front strings.Builder
		for range 12 {
			front.WriteString(`<div class="card"><span class="label">` + cards[language] + `</span><h2><a href="/a">` + headline + `, ` + headline + `</a></h2></div>`)
		}
		join := plainWalls[language][0][strings.LastIndex(plainWalls[language][0], "<p>"):]
		pages = append(pages,
			page{language + ": a short text and a newsletter", `<article>` + text.lead + letters[language] + `</article>`, "", 0},
			page{language + ": a short text and a teaser and a newsletter", `<article>` + text.lead + teasers[language] + letters[language] + `</article>`, "", 0},
			page{language + ": a front page that says of its stories whom they are for", top + `<main>` + front.String() + join + `</main>` + bottom, "", 0},
			page{language + ": the same, named as walls", top + `<main>` + strings.ReplaceAll(front.String(), `"label"`, `"teaser__paywall-label"`) + join + `</main>` + bottom, "", 0},
			page{language + ": a page that sells", `<meta property="og:type" content="website">` + top + `<main><h1>` + headline + `</h1>` + plainWalls[language][0] + `</main>` + bottom, "", 0},
		)
	}
	check(t, pages)
}

func TestWhatPagesDeclareOfBeingFree(t *testing.T) {
	text := opening["German"]
	short, full := `<article>`+text.lead+`</article>`, `<article>`+text.lead+strings.Repeat(text.more, 6)+`</article>`
	long := `<article>` + text.lead + strings.Repeat(text.more, 18) + `</article>`
	data := func(s string) string {
		return `<script type="application/ld+json">{"@type":"NewsArticle",` + s + `}</script>`
	}
	check(t, []page{
		{"a link to schema.org", `<article itemscope><link itemprop="isAccessibleForFree" href="https://schema.org/False">` + text.lead + `</article>`, Paywall, 0},
		{"microdata beside meta", `<article itemscope><span itemprop="isAccessibleForFree" content="False"></span>` + text.lead + `</article>`, Paywall, 0},
		{"an address in linked data", data(`"isAccessibleForFree":"http://schema.org/False"`) + short, Paywall, 0},
		{"a tier", `<meta name="article:content_tier" content="locked">` + short, Paywall, 0},
		{"words that are not there", data(`"isAccessibleForFree":false,"wordCount":"1240"`) + full, Paywall, 0},
		{"words, before the access", data(`"wordCount":1240,"isAccessibleForFree":"False"`) + full, Paywall, 0},

		{"a text that is not there", data(`"isAccessibleForFree":false,"articleBody":"`+strings.Repeat("M\u00fchle und Tor,\n ", 300)+`"`) + full, Paywall, 0},
		{"a text that is there in part, as here", data(`"isAccessibleForFree":false,"articleBody":"`+strings.Repeat("Mühle und Tor ", 9)+`…"`) + short, Paywall, 0},
		{"a text that is there, and an offer", data(`"isAccessibleForFree":false,"articleBody":"`+strings.Repeat("Mühle und Tor ", 9)+`"`) + `<article>` + text.lead + `<p>Nur für Abonnenten.</p></article>`, Paywall, 0},

		{"a text that is there", data(`"isAccessibleForFree":false,"articleBody":"`+strings.Repeat("Mühle und Tor ", 9)+`"`) + short, "", 0},
		{"a text that is there, and a box", data(`"isAccessibleForFree":false,"articleBody":"`+strings.Repeat("Mühle und Tor ", 9)+`"`) + `<article>` + text.lead + `<div class="paywall"></div></article>`, "", 0},
		{"free, by a link", `<article itemscope><link itemprop="isAccessibleForFree" href="https://schema.org/True">` + text.lead + `</article>`, "", 0},
		{"metered", `<meta property="article:content_tier" content="metered">` + short, "", 0},
		{"not free, and all is there", data(`"isAccessibleForFree":false,"wordCount":180`) + full, "", 0},
		{"not free, all is there, and characters were counted", data(`"isAccessibleForFree":false,"wordCount":320`) + full, "", 0},
		{"free, though more words are declared", data(`"isAccessibleForFree":true,"wordCount":1240`) + full, "", 0},
		{"not free, and long", data(`"isAccessibleForFree":false,"wordCount":9000`) + long, "", 0},
		{"a count that is none", data(`"isAccessibleForFree":false,"wordCount":99999999999999`) + full, "", 0},
	})
}

// TestTextsThatBreakOff: a long beginning whose last paragraph ends in dots, and what says that the rest is not free.
func TestTextsThatBreakOff(t *testing.T) {
	text := opening["French"]
	notFree := `<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":false}</script>`
	box := `<div class="paywall"><p>Accédez à tous nos articles.</p></div>`
	sells := `<p>La suite est réservée à nos abonnés.</p>`
	begins := text.lead + strings.Repeat(text.more, 15)
	dots := `<p>Le charpentier qui a refait la roue vient du même village que celui qui l'avait construite, et il a trouvé sous le plancher une <a href="/l">lettre</a> dans laquelle ce dernier explique comment la porte se ferme toute seule quand le flot ...</p>`
	whole := strings.Replace(dots, " ...", ".", 1)
	teaser := `<p>Le charpentier qui a refait la roue vient du même village que celui qui l'avait construite, et il a trouvé sous le plancher une vieille lettre dans laquelle…</p>`
	check(t, []page{
		{"data and a box", notFree + `<article>` + begins + dots + box + `</article>`, Paywall, 0},
		{"data and a sentence", notFree + `<article>` + begins + dots + sells + `</article>`, Paywall, 0},
		{"a box and a sentence, in brackets", `<article>` + begins + strings.Replace(dots, " ...", " […]", 1) + `<div class="paywall">` + sells + `</div></article>`, Paywall, 0},
		{"its author follows", notFree + `<article>` + begins + dots + box + `<p>Anne Meunier, charpentière</p></article>`, Paywall, 0},

		{"it ends", notFree + `<article>` + begins + whole + box + `</article>`, "", 0},
		{"it goes on", notFree + `<article>` + begins + dots + whole + box + `</article>`, "", 0},
		{"dots alone", `<article>` + begins + dots + `</article>`, "", 0},
		{"data alone", notFree + `<article>` + begins + dots + `</article>`, "", 0},
		{"teasers of other stories", notFree + `<article>` + begins + whole + box + `</article><div>` + strings.Repeat(teaser, 3) + `</div>`, "", 0},
		{"a whole book", notFree + `<article>` + strings.Repeat(begins, 3) + dots + box + `</article>`, "", 0},
	})
}
