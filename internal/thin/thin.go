// Package thin finds the facts that say that a page is hardly the one that was asked for: a shell that scripts
// would fill, a wall, a challenge, a "not found" that claims success.
//
// Its one rule: a small page is not a thin one. A fact needs something that speaks for missing content (an empty
// mounting point, a password field, a challenge maker's mark), never shortness alone; and where a page carries
// content, nothing of that kind makes it thin.
package thin

import (
	"strconv"

	"golang.org/x/net/html"
)

// The thin kinds that can be read off an HTML page.
const (
	JSShell         = "js_shell"         // the text comes from scripts
	ConsentWall     = "consent_wall"     // the page asks for consent and shows nothing else
	LoginWall       = "login_wall"       // the page asks to sign in
	Paywall         = "paywall"          // the text is cut for those who have not paid
	BotChallenge    = "bot_challenge"    // another maker's challenge or block page
	Soft404         = "soft_404"         // says "not found" with a success status
	PaymentRequired = "payment_required" // status 402
)

// Page is what is known of a page besides its tree.
type Page struct {
	// Status is the HTTP status of the response, 0 where nobody knows it.
	Status int
	// Title is the page's title; empty means the first title element of the tree.
	Title string
	// Markdown is what the page became; empty where nothing was made of it. Text that only the conversion found
	// (a frame's, a shadow root's) counts as content.
	Markdown string
	// Plain says of a text without a tree that it was served as such, and not made of a page: no script would fill it.
	Plain bool
}

// Fact is one thin kind of the closed list, with our words for what shows it. Text never holds words of the page.
type Fact struct{ Kind, Text string }

// Facts of a page; empty for an ordinary one. It names the one kind that tells most, so the slice has at most one
// element. A nil root stands for a page without HTML: then the status alone speaks. It reads the tree once, needs
// no more stack for a deep tree than for a flat one, and never changes it.
func Facts(root *html.Node, p Page) []Fact {
	if p.Status == 402 {
		return []Fact{{PaymentRequired, "the answer has status 402"}}
	}
	if root == nil {
		return nil
	}
	r := read(root)
	if p.Title != "" {
		r.title = fold(cut(p.Title, mostHeading))
	}
	// The order is from the surest sign to the weakest: a challenge page is often empty of text as a shell is.
	for _, rule := range []func(*reading, Page) (Fact, bool){challenge, paywall, loginWall, consentWall, soft404, shell} {
		if fact, found := rule(r, p); found {
			return []Fact{fact}
		}
	}
	return nil
}

func success(status int) bool { return status == 0 || status >= 200 && status < 300 }

// counted writes a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
