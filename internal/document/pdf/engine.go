// Package pdf reads PDF files as Markdown.
//
// The file is taken apart by pdfium, compiled to WebAssembly: it has a memory of its own that is capped, no file, no
// clock and no network, and a new one for each document. What it says of a page becomes plain structs, and package
// layout makes Markdown of those.
package pdf

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Options of an engine.
type Options struct {
	// CacheDir is the folder in which the compiled engine is kept, some 25 MB for each of the two settings of
	// Interruptible. Without one every New compiles: seconds of CPU and 300 MB.
	CacheDir string
	// Memory caps what the engine may use for one document, the file itself included, in bytes; rounded down to pages
	// of 64 KiB. Default 64 MiB, at least 24 MiB.
	Memory int64
	// Interruptible lets a context end a conversion at any point. It makes the engine slower; who can end the process
	// goes without, and then a context is heeded only between two pages and their parts.
	Interruptible bool
}

const (
	defaultMemory = 64 << 20
	minMemory     = 24 << 20 // the engine itself starts with 16 MiB
	pageBytes     = 64 << 10
)

// Engine reads PDF files. It is safe for concurrent use: each conversion has a memory of its own.
type Engine struct {
	pool   pdfium.Pool
	cache  wazero.CompilationCache
	memory int64

	making sync.Mutex // held while an instance is made, which fills made
	made   *instance
}

// instance is one run of the engine, for one document.
type instance struct {
	module api.Module
	memory *reserve // nil where the runtime has its own
	pooled pdfium.Pdfium
}

// New starts an engine. ctx bounds the start alone.
func New(ctx context.Context, o Options) (*Engine, error) {
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	if o.Memory < minMemory || o.Memory > 2<<30 {
		return nil, fmt.Errorf("pdf: memory of %d bytes is not between %d and %d", o.Memory, int64(minMemory), int64(2<<30))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e := &Engine{memory: o.Memory}
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(uint32(o.Memory / pageBytes)).
		WithCloseOnContextDone(o.Interruptible)
	if o.CacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(o.CacheDir)
		if err != nil {
			return nil, fmt.Errorf("pdf: compile cache: %w", err)
		}
		e.cache = cache
		config = config.WithCompilationCache(cache)
	}
	// The pool keeps its context for life, so that the caller's, which ends, cannot be it.
	own := experimental.WithFunctionListenerFactory(context.WithoutCancel(ctx), listeners{e})
	if allocator := e.allocator(); allocator != nil {
		own = experimental.WithMemoryAllocator(own, allocator)
	}
	pool, err := webassembly.Init(webassembly.Config{
		Context:       own,
		MaxTotal:      1 << 10,              // whoever converts bounds how many at once
		FSConfig:      wazero.NewFSConfig(), // no file; nil would be all of them
		Stdout:        io.Discard,
		Stderr:        io.Discard,
		RuntimeConfig: config,
	})
	if err != nil {
		if e.cache != nil {
			e.cache.Close(context.WithoutCancel(ctx))
		}
		return nil, fmt.Errorf("pdf: start the engine: %w", err)
	}
	e.pool = pool
	return e, nil
}

// Close ends the engine. No conversion may be under way.
func (e *Engine) Close() error {
	err := e.pool.Close()
	if e.cache != nil {
		e.cache.Close(context.Background())
	}
	return err
}

// start makes a run of the engine. The wrapper's methods cost a lock, a look-up and several allocations for each
// character's box; the module beneath is called directly, so it has to be caught while it starts.
func (e *Engine) start(ctx context.Context) (*instance, error) {
	e.making.Lock()
	defer e.making.Unlock()
	e.made = &instance{}
	pooled, err := e.pool.GetInstanceWithContext(ctx)
	if err != nil {
		e.made.memory.Free()
		return nil, fmt.Errorf("pdf: %w", err)
	}
	e.made.pooled = pooled
	if e.made.module == nil {
		e.made.close()
		return nil, fmt.Errorf("pdf: the engine started unseen")
	}
	return e.made, nil
}

func (i *instance) close() {
	i.pooled.Close()
	i.memory.Free() // the runtime forgets to, where a context ended at the very end of a call
}

// listeners see one function of the engine called, the first of each run.
type listeners struct{ engine *Engine }

func (l listeners) NewFunctionListener(f api.FunctionDefinition) experimental.FunctionListener {
	for _, name := range f.ExportNames() {
		if name == "FPDF_InitLibrary" {
			return l
		}
	}
	return nil
}

func (l listeners) Before(_ context.Context, m api.Module, _ api.FunctionDefinition, _ []uint64, _ experimental.StackIterator) {
	l.engine.made.module = m
}

func (listeners) After(context.Context, api.Module, api.FunctionDefinition, []uint64) {}

func (listeners) Abort(context.Context, api.Module, api.FunctionDefinition, error) {}
