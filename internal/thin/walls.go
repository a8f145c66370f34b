// The rules for walls: paywall, sign-in, consent.

package thin

// Limits in words. A preview before a paywall is a few paragraphs; a wall has a sentence or two besides its form.
const (
	shortPage    = 400 // no rule takes a page with more prose than this for a wall or a challenge
	preview      = 300 // a text with more prose than this was not cut for readers who have not paid
	longPreview  = 800 // the same of one that breaks off in dots
	shortPreview = 120 // a text that its data call not free, and that is this short, was cut
	wallText     = 100 // prose besides the form of a sign-in page that says what it is
	linkedOffer  = 150 // an article with a sentence that sells the rest of it, and a link to where
	aroundLinks  = 4   // so many times its prose is all that a page says which is no list of links
	shownPart    = 3   // an article has more than so many times the words that are shown of it: some count characters
	bareForm     = 10  // the same of one that only shows its form
	demandText   = 80  // a page whose text is little more than the demand to sign in
	consentText  = 400 // a consent wall with a list of purposes
	besideBox    = 3   // words beside a consent box: a name, a language
)

func paywall(r *reading, _ Page) (Fact, bool) {
	words := counted(r.prose, "word")
	if r.notFree && r.declaredWords > r.prose*shownPart && r.prose <= shortPage && r.declaredWords > shortPreview {
		return Fact{Paywall, "the page's data say it is not free to read and has " + counted(r.declaredWords, "word") + "; " + itoa(r.prose) + " are shown"}, true
	}
	breaksOff := r.breaksOff && r.broken == 1 && r.prose <= longPreview
	if r.prose > preview && !breaksOff {
		return Fact{}, false
	}
	offered := offerPhrases().in(r.text)
	// A list of stories says of each whom it is for. Its own text is cut nowhere.
	list := !r.article && (r.main > aroundLinks*r.prose+shortPreview/2 || offered && labelsStories(r.text))
	const least = 20 // words of a text that is one
	whole := r.bodyWords >= least && r.bodyWords <= r.prose && !offered && !breaksOff
	shown := 0
	for _, sign := range []bool{r.notFree, offered, r.offerBox} {
		if sign {
			shown++
		}
	}
	switch {
	case shown >= 2 && breaksOff && (r.offerBox || sold(r.text)):
		return Fact{Paywall, "the text breaks off after " + words + ", and it is not free to read"}, true
	case r.prose > preview, whole: // all that the page's data have of it is shown, whatever they say of readers who come often
	case shown >= 2 && r.notFree:
		return Fact{Paywall, "the page's data say it is not free to read; " + words + " are shown, then an offer"}, true
	case list && !r.notFree:
	case shown >= 2:
		return Fact{Paywall, "an offer to subscribe stands where the text ends, after " + words}, true
	case r.notFree && r.prose <= shortPreview:
		return Fact{Paywall, "the page's data say it is not free to read; " + words + " are shown"}, true
	case offered && r.prose <= shortPreview && containsAny(r.labels, offerLabels) && r.technical == 0:
		return Fact{Paywall, "an offer to read on stands over a button, after " + words}, true
	case r.prose <= linkedOffer && (r.article || r.articles == 1) && r.technical == 0 && containsAny(r.links, offerLabels) && sold(r.text):
		return Fact{Paywall, "an offer to read on stands over a link, after " + words}, true
	case offerPhrases().in(r.headings) && r.prose <= preview/2 && r.technical == 0:
		return Fact{Paywall, "a heading offers a subscription to read on, after " + words}, true
	}
	return Fact{}, false
}

func loginWall(r *reading, p Page) (Fact, bool) {
	demanded := demandsSignIn(r.text) || demandsSignIn(r.title)
	named := matchesAny(r.headings, signInNames) || matchesAny(r.title, signInNames)
	signUp := r.passwords > 1 || r.newPasswords > 0
	beside := counted(r.outside, "word") + " besides the form"
	switch {
	case r.prose > shortPage:
	case r.passwords > 0 && demanded && r.outside <= wallText:
		return Fact{LoginWall, "a password field and a demand to sign in; " + beside}, true
	case r.passwords > 0 && !signUp && named && r.outside <= wallText,
		r.passwords > 0 && !signUp && r.outside <= bareForm && r.main <= wallText:
		return Fact{LoginWall, "a password field; " + beside}, true
	case named && r.passwords == 0 && r.fields <= 2 && r.forms > 0 && r.buttons > 0 && r.main <= demandText && r.technical == 0 &&
		(r.fields > 0 || r.outside <= bareForm):
		return Fact{LoginWall, "a form to sign in; " + beside}, true
	case demanded && r.main <= demandText && r.technical == 0:
		return Fact{LoginWall, "a demand to sign in, and " + counted(r.main, "word") + " in all"}, true
	case p.Status == 401 && r.main <= demandText:
		return Fact{LoginWall, "status 401 and " + counted(r.main, "word")}, true
	}
	return Fact{}, false
}

// consentWall: a consent box with nothing beside it, or a short page that asks for nothing but consent. A box over
// content is only a banner.
func consentWall(r *reading, _ Page) (Fact, bool) {
	if r.buttons == 0 || !containsAny(r.labels, acceptPhrases) {
		return Fact{}, false
	}
	boxed := r.consentBox && !r.consentWraps && r.main <= besideBox && r.consent > 0 && r.consent <= consentText
	// Without a heading the page's text has to begin so: content has one, and comes before a banner's words or after.
	named := containsAny(r.headings, consentHeadings) || containsAny(r.title, consentHeadings) ||
		r.headings == "" && r.main <= wallText && containsAny(r.firstLine, consentHeadings)
	asked := named && !r.consentBox && r.main <= consentText && r.prose <= consentText/2 && r.technical == 0 &&
		r.fields == 0 && r.passwords == 0 && containsAny(r.text, consentPhrases)
	switch {
	case boxed:
		return Fact{ConsentWall, "a consent box with " + counted(r.buttons, "button") + "; " + counted(r.main, "word") + " besides it"}, true
	case asked:
		return Fact{ConsentWall, "a request for consent with " + counted(r.buttons, "button") + "; " + counted(r.main, "word") + " in all"}, true
	}
	return Fact{}, false
}
