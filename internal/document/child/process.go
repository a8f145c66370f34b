package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/confine"
)

// process is a running child. One document is read at a time.
type process struct {
	o     Options
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.ReadCloser
	meter *meter // nil where the system does not tell what a process costs
	holds confine.Holds
	read  int // documents

	resting *time.Timer // ends it, while nobody has it; the pool's

	ended chan struct{} // closed once the process is gone and waited for
	state *os.ProcessState
	once  sync.Once
}

// start makes a child and waits until it is ready.
func start(ctx context.Context, o Options) (*process, error) {
	p := &process{o: o, ended: make(chan struct{})}
	p.cmd = &exec.Cmd{Path: o.Program, Args: o.Args}
	p.cmd.Env = []string{} // nil would be this process's own
	p.cmd.Dir = folder
	p.cmd.SysProcAttr = attributes()
	var err error
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		p.out, err = p.cmd.StdoutPipe()
	}
	if err != nil {
		return nil, fmt.Errorf("pipes of a child: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
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

// ask lets the child read a document. After an error that is no *document.Error of the child's own, the child is gone.
func (p *process) ask(ctx context.Context, mediaType string, body []byte) (document.Text, error) {
	p.read++
	var a answer
	var markdown []byte
	watch := p.watcher()
	err := p.within(ctx, p.o.Wall, func() error {
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
	var cost errCost
	switch {
	case err == nil:
		return a.text(markdown)
	case ctx.Err() != nil:
		p.end()
		return document.Text{}, ctx.Err()
	case errors.As(err, &cost):
		p.end()
		return document.Text{}, document.Fail(document.TooCostly, "%v", err)
	}
	p.end()
	if p.state != nil {
		err = fmt.Errorf("%w; the child: %v", err, p.state)
	}
	return document.Text{}, document.Fail(document.Failed, "%v", err)
}

// watcher objects once the child has cost more, from now on, than a document may. Nil where the system does not tell.
func (p *process) watcher() func() error {
	if p.meter == nil {
		return nil
	}
	cpu, memory, err := p.meter.read()
	if err != nil {
		return nil
	}
	return func() error {
		c, m, err := p.meter.read()
		switch {
		case err != nil:
			return nil // it is gone: whoever reads its pipe will see
		case c-cpu > p.o.CPU:
			return errCost{fmt.Sprintf("more than %v of CPU", p.o.CPU)}
		case m-memory > p.o.Memory:
			return errCost{fmt.Sprintf("more than %d bytes of memory", p.o.Memory)}
		}
		return nil
	}
}

// end ends the child, whatever it does, and waits until it is gone.
func (p *process) end() {
	p.once.Do(func() {
		kill(p.cmd)
		p.in.Close()
		<-p.ended
		p.out.Close()
		p.meter.close()
	})
	<-p.ended
}
