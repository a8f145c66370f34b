// Package pages is what people see: sign-in, what needs them, runs with their timelines, agents, the audit. Pages are
// made on the server and ask the API for everything, as the person who looks would; what changes something is asked of
// the API by the page's own script, with the session's second secret.
//
// The one rule: a page knows no more than the API tells this person, and whatever a website, a model or a client wrote
// is text on it, never markup and never a link.
package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/wayleave/wayleave/internal/operatorapi/wire"
)

//go:embed html assets
var files embed.FS

// csp lets a page load what we serve and nothing else: no inline script or style, no frame around it, no form that is
// sent away.
const csp = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// Headers are those of every page.
func Headers(h http.Header) {
	h.Set("Content-Security-Policy", csp)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
}

// Options of the pages.
type Options struct {
	// Sessions says whether a request came by a name at which there are sessions.
	Sessions func(*http.Request) bool
	Log      *slog.Logger
}

// Pages serves them. It is safe for concurrent use.
type Pages struct {
	o     Options
	api   http.Handler
	mux   *http.ServeMux
	views map[string]*template.Template
	names map[string]string // of assets, with a hash of their content
}

// asset is a file that pages load: its name changes with its content, so browsers may keep it.
type asset struct {
	mime string
	data []byte
}

// New reads the templates and binds the pages. api is asked for what they show.
func New(api http.Handler, o Options) (*Pages, error) {
	p := &Pages{o: o, api: api, mux: http.NewServeMux(), views: make(map[string]*template.Template), names: make(map[string]string)}
	for file, mime := range map[string]string{"app.css": "text/css; charset=utf-8", "app.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml"} {
		data, err := files.ReadFile("assets/" + file)
		if err != nil {
			return nil, fmt.Errorf("pages: %w", err)
		}
		sum := sha256.Sum256(data)
		ext := path.Ext(file)
		name := "/assets/" + strings.TrimSuffix(file, ext) + "." + hex.EncodeToString(sum[:6]) + ext
		p.names[file] = name
		p.mux.Handle("GET "+name, asset{mime, data})
	}
	layout, err := template.New("layout.html").Funcs(p.words()).ParseFS(files, "html/layout.html", "html/parts.html")
	if err != nil {
		return nil, fmt.Errorf("pages: %w", err)
	}
	all, err := fs.Glob(files, "html/*.html")
	if err != nil {
		return nil, fmt.Errorf("pages: %w", err)
	}
	for _, file := range all {
		name := strings.TrimSuffix(path.Base(file), ".html")
		view, err := layout.Clone()
		if err != nil {
			return nil, fmt.Errorf("pages: %w", err)
		}
		if p.views[name], err = view.ParseFS(files, file); err != nil {
			return nil, fmt.Errorf("pages: %w", err)
		}
	}
	p.bind()
	return p, nil
}

// ServeHTTP serves a page or an asset.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	Headers(w.Header())
	p.mux.ServeHTTP(w, r)
}

// ServeHTTP serves an asset.
func (a asset) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", a.mime)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(a.data)
}

// frame is what stands around every page.
type frame struct {
	Title, Nav string
	Crumbs     []crumb
	Me         *wire.Person
	Install    wire.Install
	Needs      wire.NeedsYou
	Running    int
	Stops      []stop
	Body       any
}

// crumb is a step of the way to where one is; the last has no address.
type crumb struct{ Text, Href string }

// stop is a line of the Stop… dialog, narrowest first.
type stop struct{ Text, Leaves, Act, Impact, Verb string }

// page binds a view that takes a signed-in person. make fills the body and names the page.
func (p *Pages) page(pattern, view string, make func(*ask, *frame) (any, error)) {
	p.mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) {
		if !p.o.Sessions(r) {
			p.write(w, http.StatusForbidden, "elsewhere", frame{Title: "Another name"})
			return
		}
		// A link from another site comes without the cookie. The page asks again by itself, which then comes from us.
		if r.Header.Get("Sec-Fetch-Site") == "cross-site" {
			p.write(w, http.StatusOK, "again", frame{Title: "Opening"})
			return
		}
		a := &ask{p: p, r: r}
		f := frame{}
		err := a.around(&f)
		if err == nil {
			f.Body, err = make(a, &f)
		}
		if err != nil {
			p.fail(w, r, f, err)
			return
		}
		p.write(w, http.StatusOK, view, f)
	})
}

// fail shows what went wrong: sign-in for who is nobody yet, else the API's own words.
func (p *Pages) fail(w http.ResponseWriter, r *http.Request, f frame, err error) {
	var problem *failed
	if !errors.As(err, &problem) {
		p.o.Log.Error("show a page", "error", err)
		problem = &failed{wire.Problem{Title: http.StatusText(http.StatusInternalServerError), Status: http.StatusInternalServerError, Detail: "this page cannot be shown", Code: "internal_error"}}
	}
	if problem.Status == http.StatusUnauthorized {
		w.Header().Set("Location", "/sign-in?next="+url.QueryEscape(r.URL.RequestURI()))
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	f.Title, f.Body = problem.Title, problem.Problem
	p.write(w, problem.Status, "problem", f)
}

// write makes a page whole before any of it is sent. What a screen does not show is made visible here, once, wherever on
// the page it stands: the templates have none of it.
func (p *Pages) write(w http.ResponseWriter, status int, view string, f frame) {
	var b bytes.Buffer
	if err := p.views[view].ExecuteTemplate(&b, "layout.html", f); err != nil {
		p.o.Log.Error("make a page", "view", view, "error", err)
		http.Error(w, "this page cannot be shown; the log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, visible(b.String()))
}
