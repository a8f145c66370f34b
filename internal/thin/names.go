// What ids and classes give away: boxes for consent and for offers, mounting points, loaders, captchas, buttons.

package thin

import (
	"regexp"
	"strings"
	"sync"
)

// consentManagers begin the ids and classes of consent managers, by their first letter.
var consentManagers = byFirst("cc-window", "cc-banner", "cmpbox", "cmpwrapper", "cmp-banner", "cybot", "cookiebot", "cmplz", "onetrust", "ot-sdk",
	"osano", "didomi", "usercentrics", "uc-banner", "qc-cmp", "truste", "termly", "tarteaucitron", "iubenda", "sp_message", "sp-message",
	"sourcepoint", "fc-consent", "klaro", "borlabs", "axeptio")

// consentName is a token that names a box for consent.
var consentName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:cookies?|consent|gdpr|ccpa)|` +
		`(?:^|[-_])(?:cookies?|consent|gdpr)(?:[-_]?(?:wall|banner|box|bar|notice|popup|modal|dialog|layer|overlay|message|form|window|container|manager|wrapper|root))?$`)
})

// offerName is a token of a box that stands where the text is cut.
var offerName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[-_])(?:paywall|paygate|pay-wall|pay-gate|regwall|reg-wall|tp-modal|tp-container-inner|piano-paywall|piano-container|` +
		`subscription-wall|subscriber-wall|subscribe-wall|subscribers?-only|metered|meteredcontent|premium-wall|plus-wall|gated)(?:[-_]|$)`)
})

// switches begin class names that say a state, mostly of something that wraps the whole page.
var switches = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:has|no|is|with|js|show|hide|not|needs|accepts?)[-_]`)
})

// boxNames tells whether an element is named as a consent box or as a box where the text is cut. Plain searches
// come before the expressions: pages have tens of thousands of names.
func boxNames(a attributes) (consent, offer bool) {
	for token := range strings.FieldsSeq(a.id + " " + a.class) {
		for _, prefix := range consentManagers[token[0]] {
			consent = consent || strings.HasPrefix(token, prefix)
		}
		asks := strings.Contains(token, "cookie") || strings.Contains(token, "consent") || strings.Contains(token, "gdpr") || strings.Contains(token, "ccpa")
		cuts := strings.Contains(token, "wall") || strings.Contains(token, "gate") || strings.Contains(token, "meter") ||
			strings.Contains(token, "only") || strings.Contains(token, "tp-") || strings.Contains(token, "piano-")
		if !asks && !cuts || switches().MatchString(token) {
			continue
		}
		consent = consent || asks && consentName().MatchString(token)
		offer = offer || cuts && offerName().MatchString(token)
	}
	return consent, offer
}

func byFirst(names ...string) map[byte][]string {
	m := map[byte][]string{}
	for _, name := range names {
		m[name[0]] = append(m[name[0]], name)
	}
	return m
}

// mountIDs are the mounting points that frameworks' own templates use.
var mountIDs = map[string]bool{
	"root": true, "app": true, "__next": true, "__nuxt": true, "___gatsby": true, "react-root": true, "reactroot": true,
	"main-app": true, "app-root": true, "approot": true, "app-mount": true, "mount": true, "q-app": true, "svelte": true,
	"application": true, "app-container": true, "app_container": true, "react-app": true, "vue-app": true, "spa": true,
	"ember-app": true, "blazor-app": true, "flutter-app": true, "layout-root": true, "page-root": true, "single-spa": true,
	"single-spa-application": true, "elm": true, "redwood-app": true, "storybook-root": true, "solid-root": true,
}

// loaderNames are in the classes of elements that stand in for content while scripts fetch it.
var loaderNames = []string{"loader", "loading", "spinner", "splash", "skeleton"}

// isCaptcha knows the ids and classes of captcha widgets.
func isCaptcha(names ...string) bool {
	for _, name := range names {
		for _, maker := range captchas {
			if strings.Contains(name, maker) {
				return true
			}
		}
	}
	return false
}

var captchas = []string{"captcha", "cf-turnstile", "geetest", "arkose", "altcha"}

var buttonClass = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|\s)(?:btn|button)(?:[-_\s]|$)`)
})
