package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wayleave/wayleave"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/webfetch"
)

// runCommand is one command line in this process, in an environment of its own.
func runCommand(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	code = run(args, []string{"HOME=" + t.TempDir()}, strings.NewReader(""), &out, &problems)
	return code, out.String(), problems.String()
}

func ptr[T any](v T) *T { return &v }

func TestW010EveryWayOfMakingTheToolSaysTheSame(t *testing.T) {
	for _, c := range []struct {
		flags []string
		o     webfetch.Options
	}{
		{[]string{"--page-chars=0"}, webfetch.Options{PageChars: ptr(0)}},
		{[]string{"--page-chars=200001"}, webfetch.Options{PageChars: ptr(200_001)}},
		{[]string{"--max-body-bytes=0"}, webfetch.Options{MaxBodyBytes: ptr(int64(0))}},
		{[]string{"--max-body-bytes=100000001"}, webfetch.Options{MaxBodyBytes: ptr(int64(100_000_001))}},
		{[]string{"--timeout=0"}, webfetch.Options{Timeout: ptr(time.Duration(0))}},
		{[]string{"--timeout-ms=600001"}, webfetch.Options{Timeout: ptr(600_001 * time.Millisecond)}},
		{[]string{"--timeout=10m1ms"}, webfetch.Options{Timeout: ptr(600_001 * time.Millisecond)}},
		{[]string{"--max-redirects=21"}, webfetch.Options{MaxRedirects: ptr(21)}},
		{[]string{"--user-agent= "}, webfetch.Options{UserAgent: ptr(" ")}},
		{[]string{"--user-agent=a\r\nb"}, webfetch.Options{UserAgent: ptr("a\r\nb")}},
	} {
		_, err := webfetch.Direct(c.o)
		var want *webfetch.OptionError
		if !errors.As(err, &want) {
			t.Errorf("%q: the library says %v", c.flags, err)
			continue
		}
		_, err = webfetch.NewTool(webfetch.ToolOptions{Options: c.o})
		var tool *webfetch.OptionError
		if !errors.As(err, &tool) || *tool != *want {
			t.Errorf("%q: the tool says %v, the fetcher %v", c.flags, err, want)
		}
		_, err = wayleave.New(t.Context(), wayleave.Options{Data: filepath.Join(t.TempDir(), "data"), Fetch: c.o})
		var service *webfetch.OptionError
		if !errors.As(err, &service) || *service != *want {
			t.Errorf("%q: the service says %v, the fetcher %v", c.flags, err, want)
		}
		line := fmt.Sprintf("%s is %s, must be %s\n", want.Option, want.Value, want.Want)
		for _, command := range [][]string{{"fetch", "http://a.example/"}, {"serve", "--listen=127.0.0.1:0"}, {"mcp"}} {
			code, _, stderr := runCommand(t, append(command, c.flags...)...)
			if code != cli.ExitUsage || !strings.HasSuffix(stderr, line) {
				t.Errorf("%s %q: exit %d, %q, want %q", command[0], c.flags, code, stderr, line)
			}
		}
	}
}

func TestW010DoctorShowsTheLibrarysDefaults(t *testing.T) {
	_, stdout, _ := runCommand(t, "doctor", "--json", "--listen=127.0.0.1:0")
	var report struct {
		Limits []cli.Setting `json:"limits"`
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	got := make(map[string]string)
	for _, l := range report.Limits {
		got[l.Name] = l.Value
	}
	for name, want := range map[string]any{
		"page_chars": webfetch.DefaultPageChars, "max_body_bytes": webfetch.DefaultMaxBodyBytes, "timeout_ms": webfetch.DefaultTimeout.Milliseconds(),
		"max_redirects": webfetch.DefaultMaxRedirects, "user_agent": webfetch.DefaultUserAgent,
		"per_host": webfetch.DefaultInFlight, "per_host_second": webfetch.DefaultPerSecond, "per_minute": 600,
	} {
		if got[name] != fmt.Sprint(want) {
			t.Errorf("%s: doctor shows %q, the library has %v", name, got[name], want)
		}
	}
}

func TestTM097NoSecretIsShownByDoctorOrStart(t *testing.T) {
	for _, args := range [][]string{
		{"doctor", "--listen=127.0.0.1:0", "--egress-proxy=http://user:canary-password@127.0.0.1:9"},
		{"doctor", "--json", "--listen=127.0.0.1:0", "--egress-proxy=http://user:canary-password@127.0.0.1:9"},
		{"fetch", "--timeout=1ms", "--egress-proxy=http://user:canary-password@127.0.0.1:9", "http://a.example/"},
		{"fetch", "--egress-proxy=bad://user:canary-password@proxy", "http://a.example/"},
	} {
		if _, stdout, stderr := runCommand(t, args...); strings.Contains(stdout+stderr, "canary-password") {
			t.Errorf("%v: %s%s", args, stdout, stderr)
		}
	}
}
