// This file serves clients over pipes whose process is another one of the same user: `wayleave mcp` beside the owner of
// the data folder. They come in by a socket that file permission guards; there is no token.
package wayleave

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// greeting is the first line of a client; welcome is the first of the server.
type greeting struct {
	Agent string `json:"agent"` // slug
}

type welcome struct {
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

const (
	// greetTime bounds the wait for a greeting, greetBytes its length.
	greetTime  = 5 * time.Second
	greetBytes = 4096
)

// ServePipes serves the clients that come in by a socket of the same user, each for the agent that it names, until ctx
// ends. From then on nothing more is read from those that are there; what they had asked is answered.
func (s *Service) ServePipes(ctx context.Context, l net.Listener) error {
	var clients sync.WaitGroup
	defer clients.Wait()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		c, err := l.Accept()
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("serve pipes: %w", err)
		}
		clients.Go(func() {
			defer c.Close()
			defer context.AfterFunc(ctx, func() {
				if u, ok := c.(*net.UnixConn); ok { // what comes from now on is the next server's
					_ = u.CloseRead()
				}
			})()
			if err := s.pipe(context.WithoutCancel(ctx), c); err != nil && !errors.Is(err, io.EOF) {
				s.log.Info("a client over pipes", "error", err)
			}
		})
	}
}

func (s *Service) pipe(ctx context.Context, c net.Conn) error {
	if err := c.SetReadDeadline(time.Now().Add(greetTime)); err != nil {
		return err
	}
	in := bufio.NewReaderSize(c, greetBytes)
	line, err := in.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("no greeting: %w", err)
	}
	var g greeting
	if err := json.Unmarshal(bytes.TrimSpace(line), &g); err != nil {
		return errors.New("the greeting is not a line of JSON")
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	return s.serveStdio(ctx, g.Agent, in, c, func(refused error) error {
		w := welcome{OK: refused == nil}
		if refused != nil {
			w.Error = refused.Error()
		}
		return json.NewEncoder(c).Encode(w)
	})
}

// DialPipe reaches the service that listens at a socket, for an agent. An error that the service gave is final; any
// other says that nobody is there now.
func DialPipe(ctx context.Context, path, agent string) (_ *PipeConn, err error) {
	c, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = c.Close()
		}
	}()
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil, fmt.Errorf("%s is no socket", path)
	}
	if err := json.NewEncoder(c).Encode(greeting{Agent: agent}); err != nil {
		return nil, err
	}
	if err := c.SetReadDeadline(time.Now().Add(greetTime)); err != nil {
		return nil, err
	}
	in := bufio.NewReader(c)
	line, err := in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	var w welcome
	if err := json.Unmarshal(line, &w); err != nil {
		return nil, fmt.Errorf("%s does not answer as a service does", path)
	}
	if !w.OK {
		return nil, &RefusedError{w.Error}
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	return &PipeConn{UnixConn: u, in: in}, nil
}

// RefusedError is a service's reason not to serve a client.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// PipeConn is a way to a service: lines of MCP both ways.
type PipeConn struct {
	*net.UnixConn
	in *bufio.Reader
}

// Read reads what the service says.
func (p *PipeConn) Read(b []byte) (int, error) { return p.in.Read(b) }
