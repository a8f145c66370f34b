package charset

import "testing"

// TestMetaIsReadAsABrowserReadsIt follows the HTML Standard's prescan, step by step.
func TestMetaIsReadAsABrowserReadsIt(t *testing.T) {
	for _, c := range []struct{ head, want string }{
		{`<meta charset="koi8-r">`, "koi8-r"},
		{`<META CharSet='KOI8-R'/>`, "koi8-r"},
		{"<meta\n\tcharset\n=\n koi8-r >", "koi8-r"},
		{"<meta/charset=koi8-r>", "koi8-r"},
		{`<meta name=x charset=koi8-r>`, "koi8-r"},
		{`<meta charset="  koi8-r ">`, "koi8-r"},
		{`<metacharset=koi8-r>`, ""},
		{`<metadata charset=koi8-r>`, ""},
		{`<meta>charset=koi8-r`, ""},
		{`<meta charset>`, ""},
		{`<meta charset="">`, ""},
		{`<meta charset=banana><meta charset=koi8-r>`, "koi8-r"},
		{`<meta charset=koi8-r charset=gbk>`, "koi8-r"}, // the first of two attributes
		{`<meta charset=koi8-r`, ""},                    // cut
		{`<meta charset="koi8-r`, ""},
		{`<meta charset=utf-16be>`, "utf-8"},
		{`<meta charset=utf-16>`, "utf-8"},
		{`<meta charset=x-user-defined>`, "windows-1252"},
		{`<meta charset=iso-2022-kr>`, "replacement"},

		{`<meta http-equiv=Content-Type content="text/html; charset=koi8-r">`, "koi8-r"},
		{`<meta content="text/html; charset=koi8-r" http-equiv=content-type>`, "koi8-r"},
		{`<meta content="text/html; charset=koi8-r">`, ""}, // no pragma
		{`<meta http-equiv=refresh content="0; charset=koi8-r">`, ""},
		{`<meta http-equiv=content-type content="charset charset = 'koi8-r' x">`, "koi8-r"},
		{`<meta http-equiv=content-type content='charset="koi8-r'>`, ""}, // no second quote
		{`<meta http-equiv=content-type content="charset=koi8-r;x">`, "koi8-r"},
		{`<meta http-equiv=content-type content="charset=">`, ""},
		{`<meta http-equiv=content-type content="text/html; charset=gbk" charset=koi8-r>`, "koi8-r"},
		{`<meta charset=koi8-r http-equiv=content-type content="text/html; charset=gbk">`, "koi8-r"},
		{`<meta http-equiv=content-type content="charset=utf-16">`, "utf-8"},

		{`<!-- <meta charset=gbk> --><meta charset=koi8-r>`, "koi8-r"},
		{`<!--><meta charset=koi8-r>`, "koi8-r"}, // a whole comment
		{`<!---><meta charset=koi8-r>`, "koi8-r"},
		{`<!-- > <meta charset=gbk> -- ><meta charset=koi8-r>`, ""}, // open to the end
		{`<!doctype html "<meta charset=gbk>"<meta charset=koi8-r>`, "koi8-r"},
		{`<?php <meta charset=gbk><meta charset=koi8-r>`, "koi8-r"},
		{`</ <meta charset=gbk><meta charset=koi8-r>`, "koi8-r"},
		{`<p title="<meta charset=gbk>"><meta charset=koi8-r>`, "koi8-r"},
		{`<p title='>'<meta charset=gbk><meta charset=koi8-r>`, "koi8-r"},
		{`</p title="<meta charset=gbk>"><meta charset=koi8-r>`, "koi8-r"},
		{`<p =="<meta charset=gbk>"><meta charset=koi8-r>`, "koi8-r"}, // a name may begin with "="
		{`< meta charset=gbk><meta charset=koi8-r>`, "koi8-r"},
		{`<script>"<meta charset=gbk>"</script><meta charset=koi8-r>`, "gbk"}, // the prescan knows no scripts
		{`a < b <meta charset=koi8-r>`, "koi8-r"},
		{`<`, ""}, {`<m`, ""}, {`</`, ""}, {`<!--`, ""}, {`<meta `, ""}, {`<p a`, ""}, {`<p a=`, ""}, {`<p a='`, ""},
	} {
		if got := declared([]byte(c.head), HTML); got != c.want {
			t.Errorf("%s: got %q, want %q", c.head, got, c.want)
		}
	}
}

func TestXMLDeclarationIsRead(t *testing.T) {
	for _, c := range []struct{ head, want string }{
		{`<?xml version="1.0" encoding="ISO-8859-2"?>`, "iso-8859-2"},
		{`<?xml version='1.0' encoding = 'koi8-r' standalone='yes'?>`, "koi8-r"},
		{"<?xml version=\"1.0\"\n\tencoding\n=\n\"koi8-r\"?>", "koi8-r"},
		{`<?xml version="1.0" encoding="utf-16"?>`, "utf-8"}, // it was read as ASCII
		{`<?xml version="1.0" encoding="banana"?>`, ""},
		{`<?xml version="1.0" encoding="koi8-r`, ""},
		{`<?xml version="1.0" encoding=koi8-r?>`, ""},
		{`<?xml version="1.0" encoding="koi8 r"?>`, ""},
		{`<?xml version="1.0" encoding?>`, ""},
		{`<?xml version="1.0"?><a encoding="koi8-r">`, ""},
		{` <?xml version="1.0" encoding="koi8-r"?>`, ""}, // not at the start
		{`<?xml encoding="`, ""}, {`<?xml`, ""}, {``, ""},
	} {
		if got := declared([]byte(c.head), XML); got != c.want {
			t.Errorf("%s: got %q, want %q", c.head, got, c.want)
		}
	}
}

func TestHTMLBelievesMetaBeforeXMLAndXHTMLTheOtherWay(t *testing.T) {
	head := []byte(`<?xml version="1.0" encoding="koi8-r"?><html><meta charset=gbk>`)
	if got := declared(head, HTML); got != "gbk" {
		t.Errorf("HTML: %s", got)
	}
	if got := declared(head, XHTML); got != "koi8-r" {
		t.Errorf("XHTML: %s", got)
	}
	if got := declared([]byte(`<html><meta charset=gbk>`), XHTML); got != "gbk" {
		t.Errorf("XHTML without a declaration: %s", got)
	}
}
