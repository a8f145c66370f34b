// Package clienttest holds tests that attach real MCP clients to the real program: the conformance suite of the
// protocol, the Inspector, and the agent harnesses that people use, each with a scripted model. They are installed by
// make deps (test/clients, scripts/deps.sh).
//
// The one rule: nothing here speaks MCP itself. What a test asserts is what a client of someone else sent, saw, or put
// before its model; the only fake is the model, and the site that is read.
package clienttest
