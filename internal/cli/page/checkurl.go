// This file is `wayleave check-url`: the URL policy without a fetch. No name is resolved.
package page

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/weburl"
)

// CheckURL is the command.
type CheckURL struct {
	PolicyFlags
	URLs []string `arg:"" name:"url" help:"URLs, or - for one JSON string a line from standard input."`
}

// maxInputLine bounds a line of standard input; a URL is at most 2,000 characters, however it is escaped.
const maxInputLine = 1 << 20

// Run prints one JSON object a URL, in order. It fails where a line of standard input is not JSON.
func (c *CheckURL) Run(s *cli.Session) error {
	policy, err := c.Policy()
	if err != nil {
		return err
	}
	failed := false
	for _, u := range c.URLs {
		if u != "-" {
			if err := s.Out.JSONLine(policy.Judge(u)); err != nil {
				return err
			}
			continue
		}
		ok, err := judgeLines(s, policy)
		if err != nil {
			return err
		}
		failed = failed || !ok
	}
	if failed {
		return cli.ErrTold
	}
	return nil
}

func judgeLines(s *cli.Session, policy *weburl.Policy) (all bool, err error) {
	all = true
	r := bufio.NewScanner(s.In)
	r.Buffer(nil, maxInputLine)
	for n := 1; r.Scan(); n++ {
		line := bytes.TrimSpace(r.Bytes())
		if len(line) == 0 {
			continue
		}
		verdict, isJSON := judgeLine(policy, line)
		if !isJSON {
			all = false
			s.Err.Printf("wayleave: line %d is not JSON\n", n)
		}
		if err := s.Out.JSONLine(verdict); err != nil {
			return false, err
		}
	}
	if err := r.Err(); errors.Is(err, bufio.ErrTooLong) {
		return false, cli.Misused("a line of standard input is longer than %d bytes", maxInputLine)
	} else if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return all, nil
}

// judgeLine gives every line a verdict, so that the answers stay beside the questions: what is no string is no URL.
func judgeLine(policy *weburl.Policy, line []byte) (v weburl.Verdict, isJSON bool) {
	var u *string
	if err := json.Unmarshal(line, &u); err == nil && u != nil {
		return policy.Judge(*u), true
	}
	v = policy.Judge("")
	v.Reason = "the URL is not a JSON string"
	return v, json.Valid(line)
}
