package pdf

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"unicode/utf16"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/wayleave/wayleave/internal/document"
)

// scratchBytes is the room for what a call gives back: texts are cut there.
const scratchBytes = 8 << 10

// guest calls the engine's functions. The first call that fails ends it: those that follow give 0, and err tells.
type guest struct {
	ctx     context.Context
	module  api.Module
	memory  api.Memory
	fns     map[string]api.Function
	stack   [8]uint64
	scratch uint32 // scratchBytes in the engine's memory
	limit   uint32 // of the engine's memory, in bytes
	err     error
}

func newGuest(ctx context.Context, module api.Module, limit int64) *guest {
	g := &guest{ctx: ctx, module: module, memory: module.Memory(), fns: map[string]api.Function{}, limit: uint32(min(limit, math.MaxUint32))}
	g.scratch = g.alloc(scratchBytes)
	return g
}

// fn is a function of the engine by its name; each is looked up once.
func (g *guest) fn(name string) api.Function {
	f, ok := g.fns[name]
	if !ok {
		f = g.module.ExportedFunction(name)
		g.fns[name] = f
	}
	return f
}

// call calls a function whose work is bounded by its answer.
func (g *guest) call(f api.Function, args ...uint64) uint64 {
	// A context that can end costs a goroutine for each call.
	return g.run(context.Background(), f, args)
}

// work calls a function that reads the file, which takes as long as the file pleases.
func (g *guest) work(f api.Function, args ...uint64) uint64 {
	if g.err == nil {
		if err := g.ctx.Err(); err != nil {
			g.err = ended(g.ctx)
		}
	}
	return g.run(g.ctx, f, args)
}

func (g *guest) run(ctx context.Context, f api.Function, args []uint64) uint64 {
	if g.err != nil {
		return 0
	}
	if f == nil {
		g.err = document.Fail(document.Unsupported, "the engine lacks a function")
		return 0
	}
	copy(g.stack[:], args)
	if err := f.CallWithStack(ctx, g.stack[:]); err != nil {
		g.fail(err)
		return 0
	}
	return g.stack[0]
}

// fail says why the engine stopped. Its own texts tell where in the engine, so they are for a log.
func (g *guest) fail(err error) {
	if exit, ok := err.(*sys.ExitError); ok && (exit.ExitCode() == sys.ExitCodeContextCanceled || exit.ExitCode() == sys.ExitCodeDeadlineExceeded) || g.ctx.Err() != nil {
		g.err = ended(g.ctx)
		return
	}
	text, _, _ := bytes.Cut([]byte(err.Error()), []byte("\n"))
	// The engine ends itself where it gets no memory, which it asks for in pieces up to twice what it has, and the
	// runtime ends it where it calls itself too deeply.
	if size := g.memory.Size(); size > g.limit/3 || bytes.Contains(text, []byte("stack overflow")) {
		g.err = document.Fail(document.TooCostly, "engine with %d bytes of memory: %s", size, text)
		return
	}
	g.err = document.Fail(document.Damaged, "engine: %s", text)
}

// ended is the error of a context that is done: one that was cancelled says so itself.
func ended(ctx context.Context) error {
	if ctx.Err() == context.Canceled {
		return ctx.Err()
	}
	return document.Fail(document.TooCostly, "%v", ctx.Err())
}

// alloc sets memory of the engine aside; 0 and TooCostly where there is none.
func (g *guest) alloc(n int) uint32 {
	p := uint32(g.call(g.fn("malloc"), uint64(n)))
	if p == 0 && g.err == nil {
		g.err = document.Fail(document.TooCostly, "%d bytes do not fit the engine's memory", n)
	}
	return p
}

// put writes bytes into the engine's memory.
func (g *guest) put(p uint32, data []byte) {
	if g.err == nil && !g.memory.Write(p, data) {
		g.err = document.Fail(document.Damaged, "engine: no memory at %d", p)
	}
}

// bytesAt is a copy of n bytes of the engine's memory, at most what fits the scratch.
func (g *guest) bytesAt(p uint32, n int) []byte {
	n = max(0, min(n, scratchBytes))
	view, ok := g.memory.Read(p, uint32(n))
	if !ok {
		return make([]byte, n)
	}
	return append([]byte(nil), view...)
}

// float64At and float32At read what a call has left in the scratch.
func (g *guest) float64At(p uint32) float64 {
	v, _ := g.memory.ReadFloat64Le(p)
	return v
}

func (g *guest) float32At(p uint32) float64 {
	v, _ := g.memory.ReadFloat32Le(p)
	return float64(v)
}

// latin is a text of bytes that a call with a buffer and its size at the end gives, without the zero at its end.
func (g *guest) latin(f api.Function, args ...uint64) string {
	n := g.call(f, append(args, uint64(g.scratch), scratchBytes)...)
	if g.err != nil || n == 0 || n > scratchBytes {
		return ""
	}
	text, _, _ := bytes.Cut(g.bytesAt(g.scratch, int(n)), []byte{0})
	return string(text)
}

// wide is latin for texts in UTF-16.
func (g *guest) wide(f api.Function, args ...uint64) string {
	n := g.call(f, append(args, uint64(g.scratch), scratchBytes)...)
	if g.err != nil || n < 2 || n > scratchBytes {
		return ""
	}
	data := g.bytesAt(g.scratch, int(n))
	units := make([]uint16, 0, len(data)/2)
	for ; len(data) > 1; data = data[2:] {
		u := binary.LittleEndian.Uint16(data)
		if u == 0 {
			break
		}
		units = append(units, u)
	}
	return string(utf16.Decode(units))
}
