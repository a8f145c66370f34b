package child

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/confine"
)

// Options of a pool. The zero value of a field but Program and Args means its default.
type Options struct {
	// Program is what a child runs, by a path that no folder is searched for, and Args what it is called with, its own
	// name first: as a child it finds Argument there.
	Program string
	Args    []string

	CacheDir  string // private; keeps the compiled engine for PDF files; empty for none
	Limits    document.Limits
	Size      int           // children, and so documents at once, 1 to 8; default 2
	CPU       time.Duration // of one document; default 2 s
	Memory    int64         // bytes that one document may add to a child; default 100 MB
	Wall      time.Duration // that may pass for one document; default 20 s
	StartTime time.Duration // that may pass until a child is ready; default 2 min
	Documents int           // after which a child makes room for a new one; default 100
	Idle      time.Duration // without a document, after which a child is ended; the next document has one made; default 5 min
	Log       *slog.Logger  // default: none
	Engine    bool          // children start the reader's engine before they are ready

	watch time.Duration  // how often a child is looked at
	asks  func(*process) // a test's; called before a child is given a document
}

func (o Options) withDefaults() (Options, error) {
	if o.Program == "" || len(o.Args) == 0 {
		return o, errors.New("child: no program")
	}
	if o.Size < 0 || o.Size > 8 {
		return o, fmt.Errorf("child: %d children", o.Size)
	}
	o.Limits = o.Limits.WithDefaults()
	o.Size = or(o.Size, 2)
	o.CPU, o.Wall, o.StartTime = or(o.CPU, 2*time.Second), or(o.Wall, 20*time.Second), or(o.StartTime, 2*time.Minute)
	o.Memory, o.Documents, o.watch = or(o.Memory, 100_000_000), or(o.Documents, 100), or(o.watch, 5*time.Millisecond)
	o.Idle = or(o.Idle, 5*time.Minute)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

func or[T comparable](value, usual T) T {
	var zero T
	if value == zero {
		return usual
	}
	return value
}

// ErrClosed says that the pool is closed.
var ErrClosed = errors.New("the reader of documents is closed")

// Pool keeps children. It is safe for concurrent use.
type Pool struct {
	o      Options
	slots  chan *process    // nil: a child is to be made
	orders chan chan<- made // to the thread that makes children
	ctx    context.Context
	stop   context.CancelFunc

	background sync.WaitGroup
	starting   atomic.Bool
	mu         sync.Mutex // guards what follows
	closed     bool
	maker      bool // runs
	live       map[*process]bool
}

// made is a child that was ordered.
type made struct {
	p   *process
	err error
}

// New makes a pool and starts nothing: the first child starts with Warm or the first document.
func New(o Options) (*Pool, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Pool{o: o, slots: make(chan *process, o.Size), orders: make(chan chan<- made), live: map[*process]bool{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	for range o.Size {
		p.slots <- nil
	}
	return p, nil
}

// Warm starts one child in the background.
func (p *Pool) Warm() {
	select {
	case c := <-p.slots:
		if c != nil {
			p.slots <- c // it rests already
			return
		}
		p.refill()
	default:
	}
}

// run does something in the background; false once the pool is closed.
func (p *Pool) run(f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.background.Go(f)
	return true
}

// refill makes a child for a slot that was taken, in the background.
func (p *Pool) refill() {
	if !p.run(func() { p.fill(p.order()) }) {
		p.slots <- nil
	}
}

// fill waits for a child that was ordered and puts it into its slot.
func (p *Pool) fill(got <-chan made) {
	m := <-got
	if m.err != nil && p.ctx.Err() == nil {
		p.o.Log.Warn("a reader of documents does not start", "error", m.err)
	}
	p.rest(m.p)
}

// rest puts a child into its slot, where it is ended when nobody asks for it for long: what it holds of memory is more than
// the server does.
func (p *Pool) rest(c *process) {
	if c == nil {
		p.slots <- nil
		return
	}
	// The time begins when it rests: whoever looked for it in the slots before that would not come again.
	const never = 1<<63 - 1
	read := c.read
	idle := time.AfterFunc(never, func() { p.run(func() { p.retire(c, read) }) })
	c.resting = idle
	p.slots <- c
	idle.Reset(p.o.Idle)
}

// wake takes a child out of its rest.
func (p *process) wake() {
	if p.resting != nil {
		p.resting.Stop()
	}
}

// retire ends a child that still rests. One that was taken has read more by the time that it is back.
func (p *Pool) retire(c *process, read int) {
	var others []*process
	defer func() {
		for _, other := range others {
			p.slots <- other
		}
	}()
	for range p.o.Size {
		select {
		case got := <-p.slots:
			if got == c && c.read == read {
				p.drop(c)
				got = nil
			}
			others = append(others, got)
		default:
			return
		}
	}
}

// order asks for a child. Children end with the thread that started them, so that is always the same, which lives as
// long as the pool.
func (p *Pool) order() <-chan made {
	p.mu.Lock()
	if !p.maker && !p.closed {
		p.maker = true
		p.background.Go(p.makeAll)
	}
	p.mu.Unlock()
	got := make(chan made, 1)
	select {
	case p.orders <- got:
	case <-p.ctx.Done():
		got <- made{err: ErrClosed}
	}
	return got
}

func (p *Pool) makeAll() {
	runtime.LockOSThread() // and never unlocked
	for {
		select {
		case <-p.ctx.Done():
			// What still reads ends before its thread does.
			p.mu.Lock()
			live := p.live
			p.live = nil
			p.mu.Unlock()
			for c := range live {
				c.end()
			}
			return
		case got := <-p.orders:
			p.starting.Store(true)
			c, err := p.start()
			p.starting.Store(false)
			got <- made{c, err}
		}
	}
}

// start makes a child, and another one in place of one that had to compile its engine, which holds what that took.
func (p *Pool) start() (*process, error) {
	const compiled = 160 << 20 // bytes; a child that did not holds some 60 MB
	for try := 0; ; try++ {
		c, err := start(p.ctx, p.o)
		if err != nil {
			return nil, err
		}
		if c.meter != nil && p.o.CacheDir != "" && try == 0 {
			if _, memory, err := c.meter.read(); err == nil && memory > compiled {
				c.end()
				continue
			}
		}
		p.mu.Lock()
		open := p.live != nil
		if open {
			p.live[c] = true
		}
		p.mu.Unlock()
		if !open {
			c.end()
			return nil, ErrClosed
		}
		return c, nil
	}
}

// Starting says that a child is being made.
func (p *Pool) Starting() bool { return p.starting.Load() }

// take waits for a child.
func (p *Pool) take(ctx context.Context) (*process, error) {
	if p.ctx.Err() != nil {
		return nil, ErrClosed
	}
	var c *process
	select {
	case c = <-p.slots:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.ctx.Done():
		return nil, ErrClosed
	}
	if c != nil {
		c.wake()
		if !c.gone() {
			return c, nil
		}
	}
	p.drop(c)
	return p.fresh(ctx)
}

// fresh waits for a child that is made for a slot that the caller has taken. After an error the slot is given back.
func (p *Pool) fresh(ctx context.Context) (*process, error) {
	// A child that has begun to start goes on when the caller does not wait for it: its first start may take longer than
	// a caller does, and is then not begun anew for the next one.
	got := make(chan made, 1)
	if !p.run(func() {
		m := <-p.order()
		got <- m
	}) {
		p.slots <- nil
		return nil, ErrClosed
	}
	select {
	case m := <-got:
		if m.err != nil {
			p.slots <- nil
		}
		return m.p, m.err
	case <-ctx.Done():
		if !p.run(func() { p.fill(got) }) {
			p.slots <- nil
		}
		return nil, ctx.Err()
	}
}

// give puts a child back, or a new one in its place.
func (p *Pool) give(c *process) {
	if !c.gone() && c.read < p.o.Documents {
		p.rest(c)
		return
	}
	p.drop(c)
	p.refill()
}

func (p *Pool) drop(c *process) {
	if c == nil {
		return
	}
	c.wake()
	c.end()
	p.mu.Lock()
	delete(p.live, c)
	p.mu.Unlock()
}

// Read reads a document, a second time in a fresh child where the first was ended from outside: by the kernel that needed
// memory for another, or by a person. The error is a *document.Error, ErrClosed, or ctx's.
func (p *Pool) Read(ctx context.Context, mediaType string, body []byte) (document.Text, error) {
	c, err := p.take(ctx)
	switch {
	case err == nil:
	case errors.Is(err, ErrClosed), ctx.Err() != nil:
		return document.Text{}, err
	default:
		p.o.Log.Warn("a reader of documents does not start", "error", err)
		return document.Text{}, document.Fail(document.Failed, "%v", err)
	}
	b := budget{p.o.CPU, p.o.Memory, p.o.Wall}
	text, spent, err := c.ask(ctx, b, mediaType, body)
	p.tell(c, err)
	if rest, due := b.rest(spent); due && ctx.Err() == nil {
		p.o.Log.Info("a document is read a second time, since what read it was ended from outside")
		p.drop(c)
		second, startErr := p.fresh(ctx)
		switch {
		case startErr == nil:
		case errors.Is(startErr, ErrClosed), ctx.Err() != nil:
			return document.Text{}, startErr
		default:
			return document.Text{}, err
		}
		c = second
		text, _, err = c.ask(ctx, rest, mediaType, body)
		p.tell(c, err)
	}
	p.give(c)
	return text, err
}

// tell logs that a child was ended over a document.
func (p *Pool) tell(c *process, err error) {
	var failed *document.Error
	if errors.As(err, &failed) && c.gone() {
		p.o.Log.Info("a reader of documents was ended", "reason", string(failed.Reason), "detail", failed.Detail)
	}
}

// Holds tells which bounds hold for children, and whether what they cost is watched.
func (p *Pool) Holds(ctx context.Context) (holds confine.Holds, watched bool, err error) {
	c, err := p.take(ctx)
	if err != nil {
		return confine.Holds{}, false, err
	}
	defer p.give(c)
	return c.holds, c.meter != nil, nil
}

// Close ends all children, at once those that read nothing, and the others when they have read, or when ctx ends.
func (p *Pool) Close(ctx context.Context) {
	idle := 0
	for idle < p.o.Size {
		select {
		case c := <-p.slots:
			p.drop(c)
			idle++
			continue
		case <-ctx.Done():
		case <-p.ctx.Done():
		}
		break
	}
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.stop()
	p.background.Wait()
}

// gone says that the child has ended.
func (p *process) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Pools are one whose children have the engine, which some documents need, and one whose children have none: they are
// there at once, and hold less.
type Pools struct {
	Plain, Engine *Pool
	// Needs says that a document needs the engine.
	Needs func(mediaType string, body []byte) bool
}

// Read is Pool.Read in the pool that a document needs.
func (p Pools) Read(ctx context.Context, mediaType string, body []byte) (document.Text, error) {
	if p.Needs(mediaType, body) {
		return p.Engine.Read(ctx, mediaType, body)
	}
	return p.Plain.Read(ctx, mediaType, body)
}

// Close closes both.
func (p Pools) Close(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { p.Plain.Close(ctx) })
	both.Go(func() { p.Engine.Close(ctx) })
	both.Wait()
}
