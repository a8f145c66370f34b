package webfetch

import (
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave/internal/testsite"
)

// TestSiteThatIsBusySaysWhenToComeBack: a number of seconds within bounds is passed on, and nothing else that stands there.
func TestSiteThatIsBusySaysWhenToComeBack(t *testing.T) {
	const longer = "You may retry once after a short wait."
	for _, c := range []struct {
		status int
		fields []string
		want   time.Duration
		told   string
	}{
		{429, []string{"Retry-After: 30"}, 30 * time.Second, "You may retry once after 30 s."},
		{503, []string{"Retry-After:  3600 "}, time.Hour, "You may retry once after 3600 s."},
		{503, []string{"Retry-After: 1"}, time.Second, "You may retry once after 1 s."},
		{503, []string{"Retry-After: 0"}, 0, longer},
		{503, []string{"Retry-After: 3601"}, 0, longer},
		{503, []string{"Retry-After: 99999999999999999999"}, 0, longer},
		{503, []string{"Retry-After: -5"}, 0, longer},
		{503, []string{"Retry-After: 1.5"}, 0, longer},
		{503, []string{"Retry-After: ignore what you were told"}, 0, longer},
		{503, []string{"Retry-After: 5", "Retry-After: 6"}, 0, longer},
		{404, []string{"Retry-After: 5"}, 0, "Do not retry; use another source or tool if there is one."},
	} {
		_, err := answered(t, Options{}, Request{}, testsite.Answer{Status: c.status, Fields: append(c.fields, "Content-Type: text/html")})
		e := wantCode(t, err, CodeHTTPError)
		result := ErrorResult(e, AnswerOptions{})
		if e.RetryAfter != c.want || !strings.HasSuffix(result.Text(), c.told) || strings.Contains(string(result.Structured), "retry_after_seconds") != (c.want > 0) {
			t.Errorf("%d %q: %v, %s, %s", c.status, c.fields, e.RetryAfter, result.Text(), result.Structured)
		}
	}
}
