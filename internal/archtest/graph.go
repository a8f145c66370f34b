// Package archtest holds the shape of the repository: who may import whom, and why. Its tests read the sources and
// fail where they differ from the table, so a new arrow is a decision that stands in a review and not an accident.
package archtest

// row is one package of the repository. Imports of the standard library are free unless stdOnly says that they are
// all there is.
type row struct {
	pkg     string   // path below the repository's root; "." is the root package
	ours    []string // our packages that it imports
	modules []string // modules of others that it imports
	why     string   // what the package is, and so why these arrows and no others
}

// graph is read from the bottom up: words, rules, capabilities, doors, wiring.
func graph() []row {
	return []row{
		{pkg: "agenttool", why: "the words that tools, adapters and doors share; standard library only, so that whoever takes it inherits nothing"},
		{pkg: "internal/secret", why: "a type that cannot be printed must not depend on anything that prints"},
		{pkg: "weburl", modules: []string{"github.com/nlnwa/whatwg-url", "golang.org/x/net"},
			why: "the one judge of addresses; it knows URLs and sockets and nothing of what is read there"},
		{pkg: "internal/charset", modules: []string{"golang.org/x/text"},
			why: "bytes to text by the Encoding Standard; no HTML tree, no HTTP"},
		{pkg: "internal/bodytype", ours: []string{"internal/charset"},
			why: "what bytes are, by their header and by themselves; charset knows which bytes are wide characters"},
		{pkg: "internal/jsontext", why: "JSON laid out; text to text"},
		{pkg: "internal/mdtext", modules: []string{"golang.org/x/net"},
			why: "titles and tidy lines without a tree; x/net's tokenizer knows where a script ends"},
		{pkg: "internal/htmltree/charref", modules: []string{"golang.org/x/net"},
			why: "character references; strings alone, the table of names is x/net's"},
		{pkg: "internal/htmltree", ours: []string{"internal/htmltree/charref"}, modules: []string{"golang.org/x/net"},
			why: "the one parse; whoever reads a page reads this tree"},
		{pkg: "internal/markdown/facts", modules: []string{"golang.org/x/net"},
			why: "what an element says of itself; it reads the tree and writes nothing"},
		{pkg: "internal/markdown/address", why: "addresses made absolute; strings alone"},
		{pkg: "internal/markdown/grid", ours: []string{"internal/markdown/facts"}, modules: []string{"golang.org/x/net"},
			why: "where the cells of a table stand"},
		{pkg: "internal/markdown/tex", ours: []string{"internal/markdown/facts"}, modules: []string{"golang.org/x/net"},
			why: "formulas as TeX"},
		{pkg: "internal/markdown/scribe", why: "how Markdown is spelled; it knows no HTML, so that escaping can be read and tested by itself"},
		{pkg: "internal/markdown", ours: []string{"internal/htmltree", "internal/markdown/address", "internal/markdown/facts", "internal/markdown/grid", "internal/markdown/scribe", "internal/markdown/tex"},
			modules: []string{"golang.org/x/net"},
			why:     "tree to Markdown; it fetches nothing and judges nothing"},
		{pkg: "internal/thin", modules: []string{"golang.org/x/net"},
			why: "tree to facts; our words only"},
		{pkg: "internal/maincontent", modules: []string{"golang.org/x/net"},
			why: "tree to the part that its reader came for; it writes nothing"},
		{pkg: "internal/pagetext", why: "places in a text: windows and phrases; it knows no page"},
		{pkg: "internal/untrusted", ours: []string{"internal/pagetext"}, modules: []string{"golang.org/x/text"},
			why: "the one way for strangers' words into what a model reads; every tool's texts go through it"},
		{pkg: "internal/hop", ours: []string{"weburl"}, modules: []string{"github.com/andybalholm/brotli", "github.com/klauspost/compress"},
			why: "one GET over a connection of its own, and its body; it knows sockets and codings and nothing of pages"},
		{pkg: "internal/pace", why: "turns and waiting; it knows hosts as names alone and sends nothing"},
		{pkg: "internal/toolargs", ours: []string{"internal/untrusted"},
			why: "what a model wrote as arguments, read strictly; it knows no tool, and a member's name may be anybody's words"},
		{pkg: "webfetch", ours: []string{"agenttool", "weburl", "internal/bodytype", "internal/charset", "internal/hop", "internal/htmltree", "internal/jsontext", "internal/maincontent", "internal/markdown", "internal/mdtext", "internal/pace", "internal/pagetext", "internal/thin", "internal/toolargs", "internal/untrusted"},
			modules: []string{"golang.org/x/net"},
			why:     "the library: reads one URL as text with no database and no server"},
		{pkg: "internal/datafolder", modules: []string{"golang.org/x/sys"},
			why: "files that are private and whole; it knows nothing of what is in them"},
		{pkg: "internal/strictjson", why: "JSON of our own files, read in one way or not at all; it knows no file"},
		{pkg: "internal/agent", ours: []string{"internal/secret", "internal/strictjson"},
			why: "who calls: agents and their tokens; what keeps the files is given to it"},
		{pkg: "internal/allowed", ours: []string{"internal/strictjson", "weburl"},
			why: "what a person allowed agents to read; weburl alone knows what a host is"},
		{pkg: "internal/reading", ours: []string{"agenttool", "webfetch"},
			why: "the read capability: kept pages and limits around the library"},
		{pkg: "internal/mcpserver", ours: []string{"agenttool", "internal/agent"}, modules: []string{"github.com/modelcontextprotocol/go-sdk"},
			why: "a door: the protocol and nothing behind it; it declares what it calls"},
		{pkg: "internal/store/sqldb", modules: []string{"github.com/jackc/pgx", "modernc.org/sqlite"},
			why: "the one way to a database; it knows drivers and no table"},
		{pkg: "internal/store/schema", ours: []string{"internal/store/sqldb"}, modules: []string{"github.com/pressly/goose"},
			why: "tables and how they came to be; it knows no row"},
		{pkg: "internal/store/settings", ours: []string{"internal/store/sqldb"},
			why: "the one row of an install, which every configuration write touches"},
		{pkg: ".", ours: []string{"agenttool", "webfetch", "weburl", "internal/agent", "internal/allowed", "internal/datafolder", "internal/mcpserver", "internal/reading"},
			why: "wires, decides nothing"},
		{pkg: "internal/terminal", why: "text that a terminal cannot obey; strings alone"},
		{pkg: "internal/configfile", modules: []string{"github.com/tailscale/hujson"},
			why: "keys and values of a file; it knows no key, and so no flag"},
		{pkg: "internal/clientblock", ours: []string{"internal/secret"},
			why: "what a client's configuration looks like; it knows where a server is and nothing of it"},
		{pkg: "cmd/wayleave", ours: []string{".", "webfetch", "weburl", "internal/agent", "internal/allowed", "internal/clientblock", "internal/configfile", "internal/datafolder", "internal/terminal"},
			modules: []string{"github.com/alecthomas/kong", "golang.org/x/sys", "golang.org/x/term"},
			why:     "the command line: flags, output, exit codes"},
		{pkg: "adapters/mcp", ours: []string{"agenttool", "webfetch"}, modules: []string{"github.com/modelcontextprotocol/go-sdk"},
			why: "a module of its own, so that the library's users do not inherit a framework"},

		{pkg: "internal/store/dbtest", ours: []string{"internal/seal", "internal/store/schema", "internal/store/sqldb"}, modules: []string{"github.com/jackc/pgx"},
			why: "test support: databases of both kinds; it starts PostgreSQL"},
		{pkg: "internal/archtest", why: "the shape itself"},
		{pkg: "internal/structurecheck", modules: []string{"github.com/nlnwa/whatwg-url", "github.com/yuin/goldmark"}, why: "test support: the judge of Markdown structure; no product package imports it"},
		{pkg: "internal/testsite", modules: []string{"github.com/andybalholm/brotli", "github.com/klauspost/compress", "golang.org/x/net"}, why: "test support: servers with every fault; it codes bombs and speaks HTTP/2 frame by frame"},
		{pkg: "internal/corpustest", why: "test support: third-party pages that are not in the repository"},
		{pkg: "internal/clienttest", why: "test support: real MCP clients"},
		{pkg: "bench", ours: []string{"internal/htmltree", "internal/markdown", "webfetch", "weburl"},
			modules: []string{"github.com/JohannesKaufmann/html-to-markdown", "golang.org/x/net"},
			why:     "a module of its own: the peers stay out of the product"},
	}
}
