// The judgements, each kind with pages that are thin and pages that only look it.

package thin

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Content as ordinary pages have it: about a hundred words of prose.
const article = `<p>The old tide mill at the mouth of the river was rebuilt last winter, and for the first time in forty years its
 wheel turns twice a day.</p><p>A tide mill works by holding the flood behind a gate and letting it run back through the wheel once
 the sea has fallen, which gives about five hours of work on each tide.</p><p>The new gate is made of larch, because larch lasts
 longest where wood is wet and dry by turns, and the iron was forged two streets away.</p><p>Visitors can watch the stones from a
 gallery; flour ground on the spring tides is sold on the quay on Saturdays until it runs out.</p>`

// The chrome of a site: links before and after the page's own part.
const (
	top    = `<header><a href="/"><img src="/logo.svg" alt="The Quay Press"></a><nav><ul><li><a href="/news">News</a></li><li><a href="/shop">Shop</a></li><li><a href="/signin">Sign in</a></li></ul></nav></header>`
	bottom = `<footer><p>© The Quay Press. All rights reserved.</p><ul><li><a href="/privacy">Privacy policy</a></li><li><a href="/imprint">Imprint</a></li></ul></footer>`
)

const scripts = `<script src="/a.js"></script><script>window.x=1</script><script src="/b.js" async></script>`

type page struct {
	name   string
	html   string
	kind   string // empty for an ordinary page
	status int    // 0 stands for 200
}

func (p page) tree(t testing.TB) *html.Node {
	t.Helper()
	root, err := html.ParseWithOptions(strings.NewReader(p.html), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func (p page) facts(t testing.TB) []Fact {
	t.Helper()
	status := p.status
	if status == 0 {
		status = 200
	}
	return Facts(p.tree(t), Page{Status: status})
}

func check(t *testing.T, pages []page) {
	for _, p := range pages {
		t.Run(p.name, func(t *testing.T) {
			facts := p.facts(t)
			got := ""
			if len(facts) > 0 {
				got = facts[0].Kind
			}
			if got != p.kind || len(facts) > 1 {
				t.Errorf("facts %+v, want kind %q; read %+v", facts, p.kind, summary(read(p.tree(t))))
			}
		})
	}
}

// summary is a reading without its long texts.
func summary(r *reading) reading {
	s := *r
	s.markup, s.text = "", cut(s.text, 200)
	return s
}

func TestShellsOfScripts(t *testing.T) {
	check(t, []page{
		{"empty root", `<html><head><title>Dash</title><script type="module" src="/assets/index.js"></script></head><body><div id="root"></div></body></html>`, JSShell, 0},
		{"loading message in the mount", `<noscript>You need to enable JavaScript to run this app.</noscript><div id="app"><div class="spinner">Loading…</div></div><script src="/main.js"></script>`, JSShell, 0},
		{"noscript in German", `<body><noscript>Bitte aktivieren Sie JavaScript, um diese Seite zu nutzen.</noscript><div class="wrap"></div><script src="/main.js"></script>`, JSShell, 0},
		{"noscript in Japanese", `<body><noscript>このサイトを利用するにはJavaScriptを有効にしてください。</noscript><div id="__nuxt"></div><script src="/main.js"></script>`, JSShell, 0},
		{"root with a logo that stays", `<div id="__next"><img src="/logo.svg" alt=""></div>` + scripts, JSShell, 0},
		{"custom element", `<body><app-root></app-root><script src="runtime.js" type="module"></script></body>`, JSShell, 0},
		{"main left empty between chrome", top + `<main id="content"></main>` + bottom + scripts, JSShell, 0},
		{"nothing at all but scripts", `<html><head><title>Portal</title></head><body><div class="x"><div></div></div>` + scripts + `</body></html>`, JSShell, 0},
		{"scripts only fetched ahead", `<html><head><link rel="modulepreload" href="/x.js"><title>P</title></head><body><div hidden></div></body></html>`, JSShell, 0},
		{"only says that it loads", `<body><div class="splash"><p>Wird geladen…</p></div><script src="/x.js"></script></body>`, JSShell, 0},
		{"asks for scripts outside noscript", `<body><div class="box">This application requires JavaScript. Please turn it on and load the page again.</div><script src="/x.js"></script></body>`, JSShell, 0},
		{"big state in the page, nothing drawn", `<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{"text":"` + strings.Repeat("word ", 500) + `"}</script><script src="/x.js"></script>`, JSShell, 0},
		{"noscript that the parser moves out of the head", `<noscript>Bitte aktivieren Sie JavaScript, um diese Seite zu nutzen.</noscript><div class="wrap"></div><script src="/main.js"></script>`, JSShell, 0},
		{"skeleton in the mount", `<div id="root"><h1>Boats</h1><div class="card skeleton"></div><div class="card skeleton"></div></div><script src="/x.js"></script>`, JSShell, 0},
		{"a name, and that it loads", `<div><p>Boats</p><p>Loading your boats...</p></div><script src="/x.js"></script>`, JSShell, 0},
		{"placeholders outside of any mount", top + `<div class="cards"><div class="card-skeleton"></div></div>` + bottom + scripts, JSShell, 0},
		{"shell with an error status", `<div id="root"></div><script src="/x.js"></script>`, JSShell, 404},

		{"content beside an empty root", `<h1>Dashboard guide</h1>` + article + `<noscript>Please enable JavaScript for the live chart.</noscript><div id="root"></div>` + scripts, "", 0},
		{"content drawn into the root", `<div id="root"><h1>Mill</h1>` + article + `</div>` + scripts + scripts + scripts, "", 0},
		{"plain and short", `<h1>OK</h1><p>pong</p>`, "", 0},
		{"plain and short with a counter script", `<h1>OK</h1><p>pong</p><script src="/stats.js"></script>`, "", 0},
		{"short service page with scripts", top + `<main><h1>Opening hours</h1><p>Mon–Fri 9–17</p><p>Sat 10–13</p><p>Phone 555 0100</p></main>` + bottom + scripts, "", 0},
		{"few words drawn into the root", `<div id="root"><h1>OK</h1><p>pong</p></div><script src="/x.js"></script>`, "", 0},
		{"a page named after the language", `<h1>JavaScript</h1><p>See the guide and the exercises.</p><script src="/x.js"></script>`, "", 0},
		{"noscript is the page", `<div id="app"></div><noscript><h1>Ferry times</h1><p>The boat leaves at 07:10 and 18:40 every day.</p></noscript><script src="/x.js"></script>`, "", 0},
		{"hides all of itself until its script runs", `<script>document.getElementById("p").style.visibility="visible"</script><div id="p" style="visibility:hidden"><h1>Low water</h1><p>The sand bar is dry from four to six; walk with the guide only.</p></div>`, "", 0},
		{"a picture and a counter", `<img src="/map.png" alt=""><script src="/stats.js"></script>`, "", 0},
		{"a tool with fields", `<div id="root"><form><input name="from"><input name="to"><button>Search</button></form></div><script src="/x.js"></script>`, "", 0},
		{"empty without scripts", `<div id="root"></div>`, "", 0},
		{"tracking pixel in noscript", `<h1>Hello</h1><p>Short and sweet.</p><noscript><img src="https://stats.example/p.gif"></noscript><script src="/x.js"></script>`, "", 0},
		{"a page about loading", `<h1>Loading docks</h1><p>There are four loading docks at the north side of the yard, open from six to ten.</p><script src="/x.js"></script>`, "", 0},
		{"a short page about loading", `<h1>Loading docks</h1><p>Loading takes ten minutes.</p><script src="/x.js"></script>`, "", 0},
		{"a short answer about scripts", `<h1>How do I enable JavaScript?</h1><p>Open the settings, choose privacy, then site settings, then JavaScript, and allow it. ` + strings.Repeat("Some browsers keep it elsewhere. ", 8) + `</p><script src="/x.js"></script>`, "", 0},
		{"list of links in Chinese", `<ul>` + strings.Repeat(`<li><a href="/x">关于河口老磨坊的新闻报道</a></li>`, 10) + `</ul><div id="app"></div><script src="/x.js"></script>`, "", 0},
	})
}

func TestConsentWalls(t *testing.T) {
	check(t, []page{
		{"box and nothing else", `<div class="consent"><h1>Before you continue</h1><p>We and our 842 partners store and read information on your device. You can accept, or manage your choices.</p><button>Accept all</button><button>Manage options</button></div>`, ConsentWall, 0},
		{"no telling class", `<title>Before you continue to Example</title><h1>Before you continue</h1><p>We use cookies and data to deliver and maintain services. If you choose to accept all, we will also use cookies to show ads.</p><form><button>Reject all</button></form><form><button>Accept all</button></form><a href="/privacy">Privacy</a>`, ConsentWall, 0},
		{"German manager", `<div id="usercentrics-root"><h2>Ihre Privatsphäre</h2><p>Wir und unsere Partner verarbeiten personenbezogene Daten.</p><button>Einstellungen</button><button>Alle akzeptieren</button></div>` + scripts, ConsentWall, 0},
		{"French, heading only", `<h1>Avant d'accéder au site</h1><p>Nos partenaires et nous utilisons des cookies pour mesurer l'audience.</p><button>Paramétrer</button><button>Tout accepter</button>`, ConsentWall, 0},
		{"Spanish, submit inputs", `<h1>Antes de continuar</h1><p>Utilizamos cookies y datos personales.</p><form><input type="submit" value="Rechazar todo"><input type="submit" value="Aceptar todo"></form>`, ConsentWall, 0},
		{"manager with chrome around it", top + `<div id="onetrust-consent-sdk"><p>We use cookies to improve this site.</p><button>Accept All Cookies</button></div>` + bottom, ConsentWall, 0},
		{"no heading, link as a button", `<div class="x"><p>We value your privacy. We and our partners use cookies.</p><a class="btn btn-primary" href="#">Agree and close</a></div>`, ConsentWall, 0},

		{"dialog with a header and a footer", `<div class="cookie-modal"><header><h2>Cookies</h2></header><p>Choose what you allow.</p><footer><button>Reject</button><button>Accept all</button></footer></div>`, ConsentWall, 0},

		{"banner without a telling class over a short page", `<p>We use cookies. <button>Accept</button></p><h1>Opening hours</h1><p>Mon–Fri 9–17</p>`, "", 0},
		{"article about consent", `<article><h1>What a consent banner must say</h1>` + article + `<p>A banner that asks for cookies needs a button to reject all.</p></article>`, "", 0},
		{"banner over an article", `<div id="cookie-banner" role="dialog"><p>We use cookies to improve your experience.</p><button>Accept all</button><button>Reject</button></div>` + top + `<article><h1>Mill</h1>` + article + `</article>`, "", 0},
		{"banner over a short page", `<div class="cookie-notice"><p>We use cookies.</p><button>Accept</button></div>` + top + `<main><h1>Opening hours</h1><p>Mon–Fri 9–17</p><p>Sat 10–13</p></main>`, "", 0},
		{"banner over the shortest page", `<h1>Tide table</h1><p>High water 06:40 and 19:05</p><div class="cookie-bar">We use cookies. <button>Accept</button></div>`, "", 0},
		{"cookie policy", `<main><h1>Cookie policy</h1><p>We use cookies to keep you signed in. Our partners set none. You can delete them in the settings of your browser at any time.</p></main>`, "", 0},
		{"the whole page wrapped in a class", `<div class="cookie-consent-page"><nav><a href="/">Home</a></nav><main><h1>Mill</h1><p>Open at nine.</p></main><button>Accept cookies</button></div>`, "", 0},
		{"recipe for cookies", `<div class="recipe"><h1>Butter cookies</h1><p>Mix flour, butter and sugar. Bake for ten minutes.</p><button>Save recipe</button></div>`, "", 0},
		{"terms to agree to, with fields", `<h1>Your privacy</h1><p>Ask us for your personal data.</p><form><input name="name"><input name="mail"><button>I agree, send</button></form>`, "", 0},
	})
}

func TestLoginWalls(t *testing.T) {
	form := `<form method="post"><label>Email <input type="email" name="e"></label><label>Password <input type="password" name="p"></label><button>Go</button></form>`
	check(t, []page{
		{"sign in to continue", `<main><h1>Sign in to continue</h1><p>You must be logged in to view this page.</p>` + form + `<p><a href="/forgot">Forgot your password?</a></p></main>`, LoginWall, 0},
		{"only the form", `<title>Router</title>` + form, LoginWall, 0},
		{"German, with chrome", top + `<main><h1>Anmelden</h1><p>Bitte geben Sie Ihre Zugangsdaten ein.</p>` + form + `</main>` + bottom, LoginWall, 0},
		{"first step asks for a name alone", `<h1>Sign in</h1><p>Use your account</p><form><input type="email" name="id"><button>Next</button></form><a href="/new">Create account</a>`, LoginWall, 0},
		{"other sites' buttons", `<h1>Log in</h1><form action="/oauth"><button>Continue with Google</button><button>Continue with Apple</button></form>`, LoginWall, 0},
		{"demand without a form", top + `<main><h1>Members area</h1><p>You need to be logged in to read this topic. <a href="/login">Log in</a></p></main>` + bottom, LoginWall, 0},
		{"Russian demand", `<h1>Вход</h1><p>Необходимо войти, чтобы продолжить.</p>` + form, LoginWall, 0},
		{"Japanese demand", `<p>このページを表示するにはログインしてください。</p><a href="/login">ログイン</a>`, LoginWall, 0},
		{"status 401", `<h1>Authorization required</h1><p>This server could not verify that you are allowed in.</p>`, LoginWall, 401},

		{"docs with a sign-in link", top + `<main><h1>Signing in from the command line</h1>` + article + `<p>You must be logged in to push.</p></main>`, "", 0},
		{"login box beside an article", `<div id="box">` + form + `</div><article>` + article + `</article>`, "", 0},
		{"login box in the header of a short page", `<header>` + form + `</header><main><h1>Opening hours</h1><p>Mon–Fri 9–17</p></main>`, "", 0},
		{"login dialog that is not shown", `<div style="display:none">` + form + `</div><h1>Opening hours</h1><p>Mon–Fri 9–17</p>`, "", 0},
		{"newsletter", `<h1>Tide news</h1><p>Every full moon we write about the mill, its flour and the people on the quay.</p><form><input type="email"><button>Subscribe</button></form>`, "", 0},
		{"sign-up page", `<h1>Create your account</h1><p>It takes a minute.</p><form><input name="n"><input type="password" autocomplete="new-password"><input type="password" autocomplete="new-password"><button>Join</button></form>`, "", 0},
		{"comments need an account", `<article><h1>Mill</h1>` + article + `</article><p>You must be logged in to post a comment.</p>`, "", 0},
		{"short post whose comments need an account", `<h1>New bush</h1><p>The new bush came today and fits.</p><p>You must be logged in to post a comment.</p>`, "", 0},
		{"the same in German", `<h1>Neue Buchse</h1><p>Die neue Buchse ist da.</p><p>Du musst angemeldet sein, um einen Kommentar abzugeben.</p>`, "", 0},
		{"members only on Sundays", `<h1>Pool</h1><p>Open nine to five. Members only on Sundays.</p>`, "", 0},
		{"a price for customers", `<h1>Oak board</h1><p>Planed, 2 m.</p><p>Log in to see prices</p>`, "", 0},
		{"glossary of sign in", `<h1>Sign in</h1><p>To prove who one is before a service answers. See also: account, session, token.</p>`, "", 0},
		{"forbidden without a form", `<h1>403 Forbidden</h1><hr><center>nginx</center>`, "", 403},
	})
}

func TestFactsSayNothingOfThePage(t *testing.T) {
	ours := regexp.MustCompile(`^[A-Za-z0-9 ,;'"-]+$`)
	for _, p := range []page{
		{"", `<title>zebra</title><div id="root"></div><script src="/zebra.js"></script>`, JSShell, 0},
		{"", `<h1>Page not found</h1><p>zebra</p>`, Soft404, 0},
		{"", `<div class="cookie-zebra"><p>zebra cookies</p><button>Accept zebra</button></div>`, ConsentWall, 0},
		{"", `<h1>Sign in</h1><input type="password" name="zebra">`, LoginWall, 0},
		{"", `<h1>zebra</h1><div id="px-captcha">zebra</div>`, BotChallenge, 403},
		{"", `<h1>zebra</h1><p>zebra</p><div class="paywall-zebra">Subscribe to keep reading zebra</div>`, Paywall, 0},
		{"", `<h1>zebra</h1>`, PaymentRequired, 402},
	} {
		facts := p.facts(t)
		if len(facts) != 1 || facts[0].Kind != p.kind {
			t.Errorf("%s: facts %+v", p.html, facts)
			continue
		}
		if text := facts[0].Text; strings.Contains(text, "zebra") || !ours.MatchString(text) {
			t.Errorf("%s: fact %q", p.kind, text)
		}
	}
}

func TestFactsWithoutATree(t *testing.T) {
	if facts := Facts(nil, Page{Status: 402}); len(facts) != 1 || facts[0].Kind != PaymentRequired {
		t.Errorf("status 402 without a tree: %+v", facts)
	}
	if facts := Facts(nil, Page{Status: 200}); len(facts) != 0 {
		t.Errorf("status 200 without a tree: %+v", facts)
	}
}

func TestContentThatOnlyTheConversionFoundIsContent(t *testing.T) {
	p := page{html: `<div id="root"></div><iframe srcdoc="&lt;p&gt;long&lt;/p&gt;"></iframe><script src="/x.js"></script>`}
	if facts := Facts(p.tree(t), Page{Status: 200}); len(facts) != 1 {
		t.Errorf("without a conversion: %+v", facts)
	}
	if facts := Facts(p.tree(t), Page{Status: 200, Markdown: strings.Repeat("words of a frame ", 20)}); len(facts) != 0 {
		t.Errorf("with the frame's text: %+v", facts)
	}
	if facts := Facts(p.tree(t), Page{Status: 200, Markdown: "[x](https://a.example/" + strings.Repeat("b/", 200) + ")"}); len(facts) != 1 {
		t.Errorf("addresses are no words: %+v", facts)
	}
}
