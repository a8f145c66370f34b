// This file is `wayleave check-url`: the URL policy without a fetch. No name is resolved.
package page

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strconv"

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
	j := &judge{s: s, policy: policy}
	for _, u := range c.URLs {
		if u == "-" {
			err = j.lines()
		} else {
			err = j.print(policy.Judge(u))
		}
		if err != nil {
			return err
		}
	}
	if j.permit != "" && s.Err.Terminal { // a program reads the verdict, and nothing beside it
		s.Err.Printf("note: who trusts a host whose refusal has a permit lets it be read by that: --allow-host %s here, `wayleave allow %s` for agents\n", j.permit, j.permit)
	}
	if j.failed {
		return cli.ErrTold
	}
	return nil
}

// judge prints verdicts.
type judge struct {
	s      *cli.Session
	policy *weburl.Policy
	permit string // the first that would lift a refusal
	failed bool   // a line was no JSON
}

func (j *judge) print(v weburl.Verdict) error {
	v.Permit = atPort(v.Permit, v.URL)
	j.permit = cmp.Or(j.permit, v.Permit)
	return j.s.Out.JSONLine(v)
}

// atPort narrows a permit to the port that was asked for, where that is none that goes without saying.
func atPort(permit, address string) string {
	u, err := weburl.Parse(address)
	if permit == "" || err != nil || u.Port() == map[string]uint16{"http": 80, "https": 443}[u.Scheme()] {
		return permit
	}
	narrow := permit + ":" + strconv.Itoa(int(u.Port()))
	if _, err := weburl.ParsePermit(narrow); err != nil { // a port that no permit opens
		return permit
	}
	return narrow
}

func (j *judge) lines() error {
	r := bufio.NewScanner(j.s.In)
	r.Buffer(nil, maxInputLine)
	for n := 1; r.Scan(); n++ {
		line := bytes.TrimSpace(r.Bytes())
		if len(line) == 0 {
			continue
		}
		verdict, isJSON := judgeLine(j.policy, line)
		if !isJSON {
			j.failed = true
			j.s.Err.Printf("wayleave: line %d is not JSON\n", n)
		}
		if err := j.print(verdict); err != nil {
			return err
		}
	}
	if err := r.Err(); errors.Is(err, bufio.ErrTooLong) {
		return cli.Misused("a line of standard input is longer than %d bytes", maxInputLine)
	} else if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
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
