// This file binds handlers to rows of the table, reads bodies strictly, and makes the document.
package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/wayleave/wayleave/internal/operatorapi/route"
	"github.com/wayleave/wayleave/internal/operatorapi/wire"
	"github.com/wayleave/wayleave/internal/strictjson"
)

const (
	// bodyBytes bounds the body of an operation that names no other bound.
	bodyBytes = 64 << 10
	// bodyTime is how long a body may take to arrive.
	bodyTime = 10 * time.Second
)

// answer is a handler's answer.
type answer[B any] struct{ Body B }

// Handle binds a handler to a row. I has the path's and query's parameters and, where the operation reads one, Body.
func Handle[I, B any](g *Gate, id string, do func(ctx context.Context, v *Visit, in *I) (B, error)) {
	HandleWith(g, id, nil, func(ctx context.Context, v *Visit, in *I) (*answer[B], error) {
		body, err := do(ctx, v, in)
		if err != nil {
			return nil, err
		}
		return &answer[B]{Body: body}, nil
	})
}

// nothing is the answer of operations that say no more than that it is done.
type nothing struct{}

// Act binds a handler that answers 204.
func Act[I any](g *Gate, id string, do func(ctx context.Context, v *Visit, in *I) error) {
	HandleWith(g, id, nil, func(ctx context.Context, v *Visit, in *I) (*nothing, error) { return &nothing{}, do(ctx, v, in) })
}

// HandleWith binds a handler that shapes its own answer; amend may change the operation's documentation.
func HandleWith[I, O any](g *Gate, id string, amend func(*huma.Operation), do func(ctx context.Context, v *Visit, in *I) (*O, error)) {
	row, ok := g.rows[id]
	if !ok || g.bound[id] {
		panic(fmt.Sprintf("operatorapi: %s has no row, or two handlers", id)) // at construction, in any test
	}
	g.bound[id] = true
	op := huma.Operation{OperationID: id, Method: row.Method, Path: row.Path, Summary: row.Summary, Tags: []string{row.Tag},
		MaxBodyBytes: bodyBytes + 1, BodyReadTimeout: bodyTime, RejectUnknownQueryParameters: true,
		Middlewares: huma.Middlewares{g.enter(row, hasBody[I]())}, Security: security(row), Responses: problems(row, hasBody[I]())}
	if amend != nil {
		amend(&op)
	}
	huma.Register(g.huma, op, func(ctx context.Context, in *I) (*O, error) {
		v, _ := ctx.Value(visitKey{}).(*Visit)
		out, _ := ctx.Value(replyKey{}).(*Reply)
		_ = out.control.SetReadDeadline(time.Time{}) // the body is here; what follows may take its time
		answer, err := do(ctx, v, in)
		if err != nil {
			f := g.Failed(err)
			g.own(out, f)
			return nil, f
		}
		return answer, nil
	})
}

func hasBody[I any]() bool {
	t := reflect.TypeFor[I]()
	_, body := t.FieldByName("Body")
	_, raw := t.FieldByName("RawBody")
	return body || raw
}

// security is the row's credentials as the document names them.
func security(row route.Row) []map[string][]string {
	var out []map[string][]string
	if row.May.Has(route.Anyone) {
		return []map[string][]string{{}}
	}
	if row.May&(route.Tools|route.Harness) != 0 {
		out = append(out, map[string][]string{"agentToken": {}})
	}
	if row.May&route.People != 0 {
		if !row.SignedIn {
			out = append(out, map[string][]string{"personToken": {}})
		}
		if row.Unsafe() {
			return append(out, map[string][]string{"session": {}, "confirm": {}})
		}
		out = append(out, map[string][]string{"session": {}})
	}
	return out
}

// problems documents how an operation fails.
func problems(row route.Row, body bool) map[string]*huma.Response {
	out := make(map[string]*huma.Response)
	for _, status := range row.Statuses(body) {
		out[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status),
			Content: map[string]*huma.MediaType{ProblemType: {Schema: &huma.Schema{Ref: "#/components/schemas/Problem"}}}}
	}
	return out
}

// Encode gives a value as a line of JSON. Its characters are not escaped as for HTML: it is none, and nosniff says so.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// document is the HTTP library's configuration: JSON in one way or not at all, no pages of its own.
func document(version string) huma.Config {
	strict := huma.Format{
		Marshal: func(w io.Writer, v any) error {
			text, err := Encode(v)
			if err == nil { // whole or not at all
				_, err = w.Write(text)
			}
			return err
		},
		Unmarshal: strictjson.Decode,
	}
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	scheme := func(kind, description string, more func(*huma.SecurityScheme)) *huma.SecurityScheme {
		s := &huma.SecurityScheme{Type: kind, Description: description}
		more(s)
		return s
	}
	bearer := func(s *huma.SecurityScheme) { s.Scheme = "bearer" }
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{Title: "Wayleave", Version: version,
				Description: "The API of people and harnesses. Failures are RFC 9457 problem documents with a code. Times are RFC 3339 in UTC. Nothing may be cached."},
			Components: &huma.Components{Schemas: registry, SecuritySchemes: map[string]*huma.SecurityScheme{
				"agentToken":  scheme("http", "A token of an agent: scope tools lists and calls tools, scope harness looks after runs.", bearer),
				"personToken": scheme("http", "An API token of a person.", bearer),
				"session":     scheme("apiKey", "A signed-in person's browser.", func(s *huma.SecurityScheme) { s.In, s.Name = "cookie", CookieName }),
				"confirm":     scheme("apiKey", "The session's second secret, with every request that changes something.", func(s *huma.SecurityScheme) { s.In, s.Name = "header", ConfirmHeader }),
			}},
			Tags: tags(),
		},
		Formats:       map[string]huma.Format{"application/json": strict, "json": strict},
		DefaultFormat: "application/json",
		Transformers: []huma.Transformer{func(ctx huma.Context, _ string, v any) (any, error) {
			switch v := v.(type) {
			case *huma.ErrorModel:
				f := framework(v)
				if _, w := humago.Unwrap(ctx); f.Status != v.Status {
					if out, ok := w.(*Reply); ok {
						out.instead = f.Status
					}
				}
				return f.Problem, nil
			case *Failure:
				return v.Problem, nil
			}
			return v, nil
		}},
	}
}

func tags() []*huma.Tag {
	var out []*huma.Tag
	for _, name := range route.Tags() {
		out = append(out, &huma.Tag{Name: name})
	}
	return out
}

// Spec is the document that GET /api/openapi.json serves.
func (g *Gate) Spec() ([]byte, error) { return g.spec() }

// Document is the same for whoever adds to it or looks at it.
func (g *Gate) Document() *huma.OpenAPI { return g.huma.OpenAPI() }

// Schema is a type's place in the document.
func (g *Gate) Schema(t reflect.Type) *huma.Schema {
	return g.huma.OpenAPI().Components.Schemas.Schema(t, true, "")
}

// describe finishes the document. Its bytes are made for the first that asks: they are a tenth of a start's work.
func (g *Gate) describe() {
	schemas := g.huma.OpenAPI().Components.Schemas
	schemas.Schema(reflect.TypeFor[wire.Problem](), true, "")
	for _, unused := range []string{"ErrorModel", "ErrorDetail"} { // the library's own, which nothing here answers with
		delete(schemas.Map(), unused)
	}
	g.spec = sync.OnceValues(func() ([]byte, error) {
		text, err := json.MarshalIndent(g.huma.OpenAPI(), "", "  ")
		if err != nil {
			return nil, fmt.Errorf("make the API's document: %w", err)
		}
		return append(text, '\n'), nil
	})
}

// Members reads a JSON object whose members are all known and stand once; what is inside of them is not looked at.
func Members(data []byte, known ...string) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("the body is not one JSON object")
	}
	out := make(map[string]json.RawMessage)
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, errors.New("the body is not one JSON object")
		}
		if !slices.Contains(known, name) {
			return nil, errors.New("a member is not known here")
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("the member %s stands twice", name)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, errors.New("the body is not one JSON object")
		}
		out[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, errors.New("the body is not one JSON object")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind the body's end")
	}
	return out, nil
}
