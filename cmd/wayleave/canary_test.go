package main

// Secrets that a server is started with are looked for in all that the program says and leaves: answers, log, the output of
// commands beside it, its folder, a backup, and the stacks of one that is aborted (TM-100; the rest of the threat model's list
// is in the root package's test).

import (
	"bufio"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wayleave/wayleave/internal/canary"
	"github.com/wayleave/wayleave/internal/cli"
	"github.com/wayleave/wayleave/internal/datafolder"
)

const (
	saidToProxy = "what the proxy is sent"
	saidToAgent = "answers of the agent"
	saidByServe = "the server's output, log and stacks"
	saidByCLI   = "output of commands"
	leftInData  = "the data folder"
	leftInFile  = "the backup"
)

// treacherous is a proxy that keeps what it is sent, and gives it back in each place that an answer has.
func treacherous(t *testing.T, keep func(request []byte)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				plain, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.Header.Get("Proxy-Authorization"), "Basic "))
				if err != nil {
					return
				}
				keep(plain)
				text := string(plain)
				answer := "HTTP/1.1 407 " + text + "\r\nProxy-Authenticate: Basic realm=\"" + text + "\"\r\nContent-Length: " + fmt.Sprint(len(text)) + "\r\n\r\n" + text
				switch {
				case strings.Contains(r.RequestURI, "nonsense"):
					answer = "HTTP/1.1 " + text + "\r\n\r\n"
				case strings.Contains(r.RequestURI, "away"):
					answer = "HTTP/1.1 302 " + text + "\r\nLocation: http://" + text + "@elsewhere.example/\r\nContent-Length: 0\r\n\r\n"
				case strings.Contains(r.RequestURI, "broken"):
					answer = "HTTP/1.1 503 " + text + "\r\nContent-Length: 0\r\nX-Proxy: " + text + "\r\n\r\n"
				}
				_, _ = io.WriteString(c, answer)
			}()
		}
	}()
	return l.Addr().String()
}

func TestTM100WhatAServerIsStartedWithIsToldNobody(t *testing.T) {
	h := canary.NewHunt()
	h.Must(saidToProxy, "K18-proxy-password")
	password, hookKey, hook := h.Plant("K18-proxy-password").String(), h.Plant("K18-webhook-key").String(), h.Plant("K18-webhook-address").String()
	other := h.Plant("K15-variable").String()
	master := make([]byte, 32)
	for i := range master {
		master[i] = byte(i*i + 17)
	}
	if err := h.Seek("K5-master-key", hex.EncodeToString(master)); err != nil {
		t.Fatal(err)
	}
	deaf := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	defer deaf.Close()
	told := h.Writer(saidToProxy, "credentials")
	fmt.Fprintln(told, h.Control(saidToProxy))
	proxy := treacherous(t, func(b []byte) { _, _ = told.Write(b) })
	environ := []string{"WAYLEAVE_EGRESS_PROXY=http://user:" + password + "@" + proxy, "WAYLEAVE_MASTER_KEY=" + hex.EncodeToString(master), "WAYLEAVE_WEBHOOK_KEY=" + hookKey,
		"WAYLEAVE_WEBHOOK=" + deaf.URL + "/?k=" + hook, "HTTPS_PROXY=http://u:" + other + "@127.0.0.1:9", "GOTRACEBACK=system"}
	data := filepath.Join(t.TempDir(), "data")
	folder, err := datafolder.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) string {
		t.Helper()
		stdout, stderr, code := commandLine(t, "", environ, append(args, "--data", data)...)
		if code != cli.ExitDone && args[0] != "doctor" {
			t.Fatalf("%v: exit %d: %s", args, code, stderr)
		}
		return stdout + stderr
	}
	// An agent is named after what is to be found where its name is told.
	slugs := map[string]string{}
	for _, place := range []string{saidByServe, saidByCLI, leftInData, leftInFile} {
		slugs[place] = h.Control(place)
	}
	tokens := map[string]string{}
	for place, slug := range slugs {
		tokens[place] = strings.TrimSpace(strings.Split(command("agents", "token", "new", slug), "\n")[0])
	}
	if err := h.Seek("K3-agent-token", tokens[saidByServe]); err != nil {
		t.Fatal(err)
	}
	server := begin(t, program(t), environ, "serve", "--listen", "127.0.0.1:0", "--data", data, "--log-level", "debug")
	at := owned(t, folder).Listen
	h.Look(saidToAgent, "control", []byte(h.Control(saidToAgent)))
	for i, url := range []string{"http://site.example/", "https://site.example/", "http://site.example/nonsense", "https://nonsense.example/", "http://site.example/away", "https://away.example/",
		"http://site.example/broken", "https://broken.example/", "http://user:x@site.example/"} {
		l := &load{token: tokens[saidByServe], shop: url}
		said, err := l.call(t.Context(), at, fmt.Sprint("key-", i, "-xxxx"))
		if err != nil || said == "" {
			t.Fatalf("%s: %v", url, err)
		}
		h.Look(saidToAgent, url, []byte(said))
	}
	for _, args := range [][]string{{"doctor", "--listen", at}, {"runs"}, {"reads"}, {"audit"}, {"agents"}, {"keys"}, {"people"}, {"allow"}, {"audit", "verify"}} {
		h.LookSmall(saidByCLI, strings.Join(args, " "), []byte(command(args...)))
		if args[0] != "allow" && args[len(args)-1] != "verify" {
			h.LookSmall(saidByCLI, strings.Join(args, " ")+" --json", []byte(command(append(args, "--json")...)))
		}
	}
	file := filepath.Join(t.TempDir(), "backup")
	h.LookSmall(saidByCLI, "backup", []byte(command("backup", file)))
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h.Look(leftInFile, "backup", b)

	if err := server.Process.Signal(syscall.SIGABRT); err != nil {
		t.Fatal(err)
	}
	if err := server.ended(); err == nil {
		t.Error("a server that was aborted ended in order")
	}
	stacks := server.said.String()
	if !strings.Contains(stacks, "SIGABRT") || !strings.Contains(stacks, "goroutine ") {
		t.Errorf("there are no stacks: %.300s", stacks)
	}
	h.Look(saidByServe, "standard error", []byte(stacks))
	start, err := io.ReadAll(server.out)
	if err != nil {
		t.Fatal(err)
	}
	h.Look(saidByServe, "standard output", start)
	if err := h.LookFiles(leftInData, data); err != nil {
		t.Fatal(err)
	}
	h.Check(t)
}
