package testsite

import (
	"strings"
	"time"
)

// A pace is how often a slow script sends something: slow for a client, quick for a test.
const pace = 20 * time.Millisecond

// Drip sends text a byte at a time, and again from the start of loop for ever, until the client goes.
func Drip(c *Conn, text, loop string) {
	gone := c.Gone()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		for i := range len(text) {
			select {
			case <-tick.C:
				if !c.Send(text[i : i+1]) {
					return
				}
			case <-gone:
				return
			}
		}
		if loop == "" {
			<-gone
			return
		}
		text = loop
	}
}

// Pour sends piece again and again, as fast as the client takes it, until it goes.
func Pour(c *Conn, piece string) {
	block := strings.Repeat(piece, 1+(16<<10)/len(piece))
	for c.Send(block) {
	}
}

// Hold keeps the connection and says nothing until the client goes.
func Hold(c *Conn) { <-c.Gone() }

// Fault is one way to misbehave over plain HTTP/1. Its script gets the connection before anything was read.
type Fault struct {
	Name   string
	Script func(*Conn)
}

const okHead = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"

// Broken are faults after which no page can be had: connections that end or are reset at each stage, answers whose
// end nobody can tell, and answers that are not HTTP.
func Broken() []Fault {
	sendAndReset := func(text string) func(*Conn) {
		return Once(func(c *Conn) {
			if c.Send(text) {
				c.Reset()
			}
		})
	}
	sendAndClose := func(text string) func(*Conn) {
		return Once(func(c *Conn) { c.Send(text) })
	}
	return []Fault{
		{"closed at once", func(*Conn) {}},
		{"reset at once", (*Conn).Reset},
		{"closed after the request", sendAndClose("")},
		{"reset after the request", sendAndReset("")},
		{"closed in the status line", sendAndClose("HTTP/1.1 20")},
		{"closed in the headers", sendAndClose(okHead)},
		{"reset in the headers", sendAndReset(okHead)},
		{"body shorter than its length", sendAndClose(okHead + "Content-Length: 100\r\n\r\nshort")},
		{"body reset before its length", sendAndReset(okHead + "Content-Length: 100\r\n\r\nshort")},
		{"reset in a body without length", sendAndReset(okHead + "\r\nsome text")},
		{"chunks cut short", sendAndClose(okHead + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nwo")},
		{"chunks without an end", sendAndClose(okHead + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")},
		{"chunk size that is no number", sendAndClose(okHead + "Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n")},
		{"chunk size beyond any memory", sendAndClose(okHead + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\nhello\r\n0\r\n\r\n")},
		{"two different lengths", sendAndClose(okHead + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!")},
		{"unknown transfer coding", sendAndClose(okHead + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")},
		{"not HTTP", sendAndClose("SSH-2.0-OpenSSH_9.9\r\n")},
		{"HTTP/0.9", sendAndClose("<html>hello</html>")},
		{"another version of HTTP", sendAndClose("HTTP/2.0 200 OK\r\n\r\nhello")},
		{"a status that is no number", sendAndClose("HTTP/1.1 abc OK\r\n\r\nhello")},
		{"a header line without a colon", sendAndClose("HTTP/1.1 200 OK\r\nbroken\r\n\r\nhello")},
		{"a header line before any name", sendAndClose("HTTP/1.1 200 OK\r\n folded: x\r\n\r\nhello")},
		{"a change of protocol", Once(func(c *Conn) {
			c.Send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello")
			Hold(c)
		})},
		{"an endless status line", Once(func(c *Conn) {
			c.Send("HTTP/1.1 200 ")
			Pour(c, "O")
		})},
		{"an endless header value", Once(func(c *Conn) {
			c.Send("HTTP/1.1 200 OK\r\nX-Big: ")
			Pour(c, "x")
		})},
		{"endless headers", Once(func(c *Conn) {
			c.Send("HTTP/1.1 200 OK\r\n")
			Pour(c, "X-Flood: 1\r\n")
		})},
		{"endless interim answers", Once(func(c *Conn) { Pour(c, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n") })},
		{"endless bare interim answers", Once(func(c *Conn) { Pour(c, "HTTP/1.1 100 Continue\r\n\r\n") })},
		{"unknown content coding", sendAndClose(okHead + "Content-Encoding: snappy\r\nContent-Length: 5\r\n\r\nhello")},
		{"content that is not coded as it says", sendAndClose(okHead + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello")},
	}
}

// Stalled are faults that only a deadline ends: silence and trickles at each stage.
func Stalled() []Fault {
	return []Fault{
		{"silence before the request is read", Hold},
		{"no answer", Once(Hold)},
		{"a slow status line", Once(func(c *Conn) { Drip(c, "HTTP/1.1 200 "+strings.Repeat("slow", 1000), "") })},
		{"slow headers", Once(func(c *Conn) { Drip(c, "HTTP/1.1 200 OK\r\n", "X-Slow: 1\r\n") })},
		{"headers without an end", Once(func(c *Conn) { c.Send(okHead); Hold(c) })},
		{"slow interim answers", Once(func(c *Conn) { Drip(c, "", "HTTP/1.1 102 Processing\r\n\r\n") })},
		{"no body after its headers", Once(func(c *Conn) { c.Send(okHead + "Content-Length: 10\r\n\r\n"); Hold(c) })},
		{"a slow body", Once(func(c *Conn) { c.Send(okHead + "\r\n"); Drip(c, "a", "a") })},
		{"slow chunks", Once(func(c *Conn) { c.Send(okHead + "Transfer-Encoding: chunked\r\n\r\n"); Drip(c, "", "1\r\na\r\n") })},
		{"a body that ends but for its last chunk", Once(func(c *Conn) {
			c.Send(okHead + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
			Hold(c)
		})},
	}
}

// Bombs are bodies that never fit: endless ones, plain and coded.
func Bombs() []Fault {
	coded := func(coding string) func(*Conn) {
		bomb := Bomb(coding)
		return Once(func(c *Conn) { c.Send(okHead+"Content-Encoding: "+coding+"\r\n\r\n", bomb) })
	}
	return []Fault{
		{"an endless body", Once(func(c *Conn) { c.Send(okHead + "\r\n"); Pour(c, "endless ") })},
		{"an endless chunked body", Once(func(c *Conn) {
			c.Send(okHead + "Transfer-Encoding: chunked\r\n\r\n")
			Pour(c, "1000\r\n"+strings.Repeat("x", 0x1000)+"\r\n")
		})},
		{"an endless body that declares little", Once(func(c *Conn) {
			c.Send(okHead + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n")
			Pour(c, "1000\r\n"+strings.Repeat("x", 0x1000)+"\r\n")
		})},
		{"a length that is larger than anything", Once(func(c *Conn) {
			c.Send(okHead + "Content-Length: 9223372036854775807\r\n\r\n")
			Hold(c)
		})},
		{"gzip of zeros", coded("gzip")},
		{"br of zeros", coded("br")},
		{"zstd of zeros", coded("zstd")},
		{"deflate of zeros", coded("deflate")},
		{"gzip in gzip", coded("gzip, gzip")},
		{"br in gzip", coded("br, gzip")},
		{"zstd in br", coded("zstd, br")},
		{"gzip members that hold nothing", Once(func(c *Conn) {
			c.Send(okHead + "Content-Encoding: gzip\r\n\r\n")
			Pour(c, emptyMember())
		})},
		{"zstd frames that hold nothing", Once(func(c *Conn) {
			c.Send(okHead + "Content-Encoding: zstd\r\n\r\n")
			Pour(c, "\x50\x2a\x4d\x18\x08\x00\x00\x00skipped!")
		})},
	}
}
