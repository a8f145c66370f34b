package weburl_test

// Generated URLs, judged here and by Node's own URL parser with a second table (testdata/oracle.mjs). In the ordinary
// run a few thousand; the whole million with
//
//	WAYLEAVE_SOAK=1 go test -run TestOracle -v -timeout 30m ./weburl
//
// and other URLs with WAYLEAVE_SEED=N. No URL may be let through that the oracle refuses, and where both allow they must
// agree to the letter. What we refuse alone must be among the kinds of strictly.
//
// Without Node on the machine the ordinary run only checks that nothing panics and that canonical URLs are stable.

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/wayleave/wayleave/weburl"
)

// question is a URL, or a reference with the canonical URL it is resolved against.
type question []string

// opinion is the oracle's answer.
type opinion struct {
	OK               bool
	Href, Host, Port string
	Contextual       bool   // the host has right-to-left letters or joiners
	Refuse           string // why the oracle refuses; empty if it allows
}

const ordinaryCount, soakCount = 5_000, 1_000_000

func TestOracleAgreesOnGeneratedURLs(t *testing.T) {
	count, soak := ordinaryCount, os.Getenv("WAYLEAVE_SOAK") != ""
	if soak {
		count = soakCount
	}
	ask := startOracle(t, soak)
	gen := newURLGen(1)
	if seed, err := strconv.ParseUint(os.Getenv("WAYLEAVE_SEED"), 10, 64); err == nil {
		gen = newURLGen(seed)
	}
	var r report
	const batch = 1_000 // so that the oracle's pipe never fills up
	for done := 0; done < count; done += batch {
		questions := make([]question, 0, batch)
		for range batch {
			questions = append(questions, makeQuestion(gen))
		}
		for i, theirs := range ask(questions) {
			r.compare(t, questions[i], theirs)
		}
	}
	r.conclude(t, count)
}

// makeQuestion is a URL, or one time in five a reference against a URL that we would ask for.
func makeQuestion(gen *urlGen) question {
	if !gen.chance(20) {
		return question{gen.url()}
	}
	base, err := weburl.Parse(gen.pick("http://example.com/a/b?c", "https://example.org:8443/", "https://[2606:4700::1]/x/y/..", "http://8.8.8.8/|") + gen.pick("", "d", "/"))
	if err != nil {
		return question{gen.url()}
	}
	return question{gen.reference(), base.String()}
}

// startOracle returns a function that asks Node, or one that answers nothing where Node is missing.
func startOracle(t *testing.T, required bool) func([]question) []opinion {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		if required {
			t.Fatalf("the oracle needs node: %v", err)
		}
		t.Log("node is not here: nothing to compare with")
		return func(qs []question) []opinion { return make([]opinion, len(qs)) }
	}
	cmd := exec.CommandContext(t.Context(), node, "testdata/oracle.mjs")
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	cmd.Stderr = os.Stderr
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	lines := bufio.NewReader(stdout)
	return func(qs []question) []opinion {
		go writeQuestions(stdin, qs)
		answers := make([]opinion, len(qs))
		for i := range qs {
			line, err := lines.ReadBytes('\n')
			if err == nil {
				err = json.Unmarshal(line, &answers[i])
			}
			if err != nil {
				t.Fatalf("oracle, after %q: %v", qs[i], err)
			}
		}
		return answers
	}
}

func writeQuestions(w io.Writer, qs []question) {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	for _, q := range qs {
		if enc.Encode(q) != nil {
			return // the reader reports it
		}
	}
	b.Flush()
}

// report counts what was found.
type report struct {
	both, neither, letThrough, misread int
	dots                               int            // left by the oracle
	refused                            map[string]int // by us alone, by reason
}

// compare judges a question and files how the answer differs from the oracle's.
func (r *report) compare(t *testing.T, q question, theirs opinion) {
	ours, err := judge(q)
	if err != nil && ours != nil {
		t.Errorf("%q: both a URL and an error", q)
	}
	if err == nil && len(ours.String()) <= weburl.MaxLength {
		if again, err := weburl.Parse(ours.String()); err != nil || again.String() != ours.String() || again.Host() != ours.Host() {
			t.Errorf("%q: canonical %s reads as %v, %v", q, ours, again, err)
		}
	}
	if theirs == (opinion{}) {
		return // no oracle
	}
	var refusal *weburl.Error
	switch errors.As(err, &refusal); {
	case err == nil && theirs.Refuse != "":
		r.letThrough++
		t.Errorf("let through: %q as %s; oracle: %s", q, ours, theirs.Refuse)
	case err == nil && dotsLeft(ours, theirs):
		r.dots++
	case err == nil && (ours.Host() != theirs.Host || ours.String() != theirs.Href || strconv.Itoa(int(ours.Port())) != theirs.Port):
		r.misread++
		t.Errorf("%q read as %s (host %s, port %d); oracle: %s", q, ours, ours.Host(), ours.Port(), theirs.Href)
	case err == nil:
		r.both++
	case theirs.Refuse == "":
		if r.refused == nil {
			r.refused = map[string]int{}
		}
		r.refused[refusal.Reason]++
		if !strictly(q, refusal, theirs) {
			t.Errorf("refused: %q: %v; oracle: %s", q, err, theirs.Href)
		}
	default:
		r.neither++
	}
}

// strictly tells the refusals that are right although the oracle allows: a NUL character, and names that the standard
// refuses and Node 20 does not.
func strictly(q question, refusal *weburl.Error, theirs opinion) bool {
	if refusal.Rule == weburl.RuleShape {
		return strings.Contains(q[0], "\x00")
	}
	// The delimiter of punycode with nothing before it (RFC 3492, 6.2), or with nothing after it, which leaves ASCII
	// (UTS #46, validity criteria).
	host := "." + theirs.Host + "."
	delimiter := strings.Contains(host, ".xn---") || strings.Contains(host, ".xn--") && strings.Contains(host, "-.")
	return refusal.Rule == weburl.RuleParse && (theirs.Contextual || delimiter)
}

// dotsLeft tells where Node 20 leaves dot segments in a path after a later segment that begins with a dot, such as
// /x/.y/./a/../b, against the standard (4.4, path state).
func dotsLeft(ours *weburl.URL, theirs opinion) bool {
	if ours.Host() != theirs.Host || ours.String() == theirs.Href || !strings.Contains(theirs.Href, "/./") && !strings.Contains(theirs.Href, "/../") {
		return false
	}
	again, err := weburl.Parse(theirs.Href)
	return err == nil && again.String() == ours.String()
}

func judge(q question) (*weburl.URL, error) {
	p := new(weburl.Policy)
	if len(q) == 1 {
		return p.Check(q[0])
	}
	base, err := weburl.Parse(q[1])
	if err != nil {
		return nil, err
	}
	u, err := base.Resolve(q[0])
	if err != nil {
		return nil, err
	}
	if err := p.CheckURL(u); err != nil {
		return nil, err
	}
	return u, nil
}

// conclude logs the figures.
func (r *report) conclude(t *testing.T, count int) {
	t.Logf("%d URLs: %d allowed by both, %d refused by both, %d let through, %d misread, %d where the oracle left dot segments",
		count, r.both, r.neither, r.letThrough, r.misread, r.dots)
	for reason, n := range r.refused {
		t.Logf("refused by us alone: %d because %s", n, reason)
	}
}
