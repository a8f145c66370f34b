package mcpserver

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// TestStandingStreamDoesNotHoldAPipeOpen: a client that listens for changes and ends is not waited for, as one with a
// call is.
func TestStandingStreamDoesNotHoldAPipeOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startStdio(t, Limits{})
		begin := time.Now()
		p.send(t, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+modernMeta+`}}`)
		if a := p.read(t); !strings.Contains(a.raw, "subscriptions/acknowledged") {
			t.Fatal(a.raw)
		}
		p.in.Close()
		go func() { _, _ = p.out.WriteTo(new(strings.Builder)) }()
		if err := <-p.done; err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 0 {
			t.Errorf("it ended after %v", took)
		}
	})
}

// TestIDInUseIsRefused: a second request with the id of one that is not answered yet has an answer of its own, and the
// first keeps its.
func TestIDInUseIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := startStdio(t, Limits{})
		p.send(t, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+modernMeta+`}}`)
		p.read(t)
		p.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+modernMeta+`}}`)
		if a := p.read(t); a.Error == nil || a.Error.Code != jsonrpc.CodeInvalidRequest || a.ID != nil || !strings.Contains(a.raw, "not answered yet") {
			t.Error(a.raw)
		}
		for range 3 { // an id is free with its answer
			p.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{`+modernMeta+`}}`)
			if a := p.read(t); a.Result["tools"] == nil {
				t.Error(a.raw)
			}
		}
		p.in.Close()
		go func() { _, _ = p.out.WriteTo(new(strings.Builder)) }()
		if err := <-p.done; err != nil {
			t.Error(err)
		}
	})
}
