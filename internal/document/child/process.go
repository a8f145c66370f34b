package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/confine"
)

// process is a running child. One document is read at a time.
type process struct {
	o      Options
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	meter  *meter // nil where the system does not tell what a process costs
	holds  confine.Holds
	read   int    // documents
	budget budget // of the last one

	resting *time.Timer // ends it, while nobody has it; the pool's

	killed atomic.Bool   // by us
	ended  chan struct{} // closed once the process is gone and waited for
	state  *os.ProcessState
	once   sync.Once
}

// start makes a child and waits until it is ready.
func start(ctx context.Context, o Options) (*process, error) {
	p := &process{o: o, ended: make(chan struct{})}
	p.cmd = &exec.Cmd{Path: o.Program, Args: o.Args}
	p.cmd.Env = []string{} // nil would be this process's own
	p.cmd.Dir = folder
	p.cmd.SysProcAttr = attributes()
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("pipes of a child: %w", err)
	}
	// Not StdoutPipe, which would be closed when the child ends, and with it its last words.
	out, childs, err := os.Pipe()
	if err != nil {
		p.in.Close()
		return nil, fmt.Errorf("pipes of a child: %w", err)
	}
	p.out, p.cmd.Stdout = out, childs
	err = p.cmd.Start()
	childs.Close()
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("start a child: %w", err)
	}
	go func() {
		_ = p.cmd.Wait()
		p.state = p.cmd.ProcessState
		close(p.ended)
	}()
	p.meter = newMeter(p.cmd.Process.Pid)
	var r ready
	err = p.within(ctx, o.StartTime, func() error {
		if err := writeFrame(p.in, frameHello, Hello{CacheDir: o.CacheDir, Limits: o.Limits, Engine: o.Engine}, nil); err != nil {
			return err
		}
		_, err := readFrame(p.out, frameReady, &r, 0)
		return err
	}, nil)
	if err == nil && r.Error != "" {
		err = fmt.Errorf("a child is not ready: %s", clip(r.Error))
	}
	if err != nil {
		p.end()
		return nil, err
	}
	p.holds = r.Holds
	return p, nil
}

// errCost says that a document cost too much: what of it.
type errCost struct{ what string }

func (e errCost) Error() string { return e.what }

// within does something with the child that ends with it, and ends the child where that takes too long or watch has an
// objection.
func (p *process) within(ctx context.Context, most time.Duration, do func() error, watch func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	deadline := time.NewTimer(most)
	defer deadline.Stop()
	var tick <-chan time.Time
	if watch != nil {
		t := time.NewTicker(p.o.watch)
		defer t.Stop()
		tick = t.C
	}
	for {
		var why error
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			why = ctx.Err()
		case <-deadline.C:
			why = errCost{fmt.Sprintf("more than %v", most)}
		case <-tick:
			if why = watch(); why == nil {
				continue
			}
		}
		p.end() // its pipes end with it, and so does what reads them
		<-done
		return why
	}
}

// ask lets the child read a document, which may cost b. After an error that is no *document.Error of the child's own, the
// child is gone; where that was not for its cost, spent says what it was.
func (p *process) ask(ctx context.Context, b budget, mediaType string, body []byte) (read document.Text, spent cost, err error) {
	p.read++
	var a answer
	var markdown []byte
	began := time.Now()
	base, watched := p.counted()
	if p.budget = b; p.o.asks != nil {
		p.o.asks(p)
	}
	watch := func() error {
		if at, ok := p.counted(); ok { // else it is gone: whoever reads its pipe will see
			spent.cpu, spent.memory = at.cpu-base.cpu, max(spent.memory, at.memory-base.memory)
		}
		return b.exceeded(spent)
	}
	if !watched {
		watch = nil
	}
	err = p.within(ctx, b.wall, func() error {
		if err := writeFrame(p.in, frameAsk, ask{mediaType}, body); err != nil {
			return err
		}
		var err error
		markdown, err = readFrame(p.out, frameAnswer, &a, p.o.Limits.Text+textMargin)
		return err
	}, watch)
	if err == nil && watch != nil {
		err = watch() // what was short of a tick counts too
	}
	var over errCost
	switch {
	case err == nil:
		text, err := a.text(markdown)
		return text, cost{}, err
	case ctx.Err() != nil:
		p.end()
		return document.Text{}, cost{}, ctx.Err()
	case errors.As(err, &over):
		p.end()
		return document.Text{}, cost{}, document.Fail(document.TooCostly, "%v", err)
	}
	if !errors.Is(err, errFrame) {
		p.lastMoment(ctx)
	}
	p.end()
	spent.wall = time.Since(began)
	if p.state != nil {
		if watched || p.meter == nil { // else it was gone before the document was sent
			// All that it cost in its life, which is known on every system, is more exact than the last look at it.
			spent.cpu = max(spent.cpu, p.state.UserTime()+p.state.SystemTime()-base.cpu)
		}
		spent.outside = !p.killed.Load() && fromOutside(p.state)
		err = fmt.Errorf("%w; the child: %v", err, p.state)
	}
	return document.Text{}, spent, document.Fail(document.Failed, "%v", err)
}

// lastMoment waits for the end of a child whose pipe has ended, so that it is known whether it ended without our doing.
func (p *process) lastMoment(ctx context.Context) {
	const most = time.Second // for one that closed its pipe and lives
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-p.ended:
	case <-t.C:
	case <-ctx.Done():
	}
}

// counted is what the child has used of CPU in its life and holds of memory now; false where the system does not tell.
func (p *process) counted() (cost, bool) {
	if p.meter == nil {
		return cost{}, false
	}
	cpu, memory, err := p.meter.read()
	return cost{cpu: cpu, memory: memory}, err == nil
}

// end ends the child, whatever it does, and waits until it is gone.
func (p *process) end() {
	p.once.Do(func() {
		if !p.gone() {
			p.killed.Store(true)
		}
		kill(p.cmd)
		p.in.Close()
		<-p.ended
		p.out.Close()
		p.meter.close()
	})
	<-p.ended
}
