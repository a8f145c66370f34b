// Insertion modes within tables, and that of templates, which hold parts of any of them.

package htmltree

import "golang.org/x/net/html/atom"

func (p *parser) startInTable() bool {
	switch p.tag.atom {
	case atom.Caption:
		p.closeTo(tableEnd)
		p.marker()
		p.add()
		p.mode = inCaption
		return false
	case atom.Colgroup:
		p.closeTo(tableEnd)
		p.add()
		p.mode = inColumnGroup
		return false
	case atom.Col:
		p.closeTo(tableEnd)
		p.imply(atom.Colgroup)
		p.mode = inColumnGroup
		return true
	case atom.Tbody, atom.Tfoot, atom.Thead:
		p.closeTo(tableEnd)
		p.add()
		p.mode = inTableBody
		return false
	case atom.Td, atom.Th, atom.Tr:
		p.closeTo(tableEnd)
		p.imply(atom.Tbody)
		p.mode = inTableBody
		return true
	case atom.Table:
		if p.close(tableScope, atom.Table) {
			p.resetMode()
			return true
		}
		return false
	case atom.Style, atom.Script, atom.Template:
		p.metadata()
		return false
	case atom.Input:
		if p.hiddenInput() {
			p.addVoid()
			return false
		}
	case atom.Form:
		if len(p.templates) == 0 && p.form == nil {
			p.form = p.add()
			p.pop()
		}
		return false
	}
	p.foster = true
	again := p.startInBody()
	p.foster = false
	return again
}

func (p *parser) endInTable() bool {
	switch p.tag.atom {
	case atom.Table:
		if p.close(tableScope, atom.Table) {
			p.resetMode()
		}
		return false
	case atom.Body, atom.Caption, atom.Col, atom.Colgroup, atom.Html, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr:
		return false
	case atom.Template:
		p.endTemplate()
		return false
	}
	p.foster = true
	again := p.endInBody()
	p.foster = false
	return again
}

func (p *parser) startInCaption() bool {
	switch p.tag.atom {
	case atom.Caption, atom.Col, atom.Colgroup, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr:
		return p.endCaption()
	}
	return p.startInBody()
}

func (p *parser) endInCaption() bool {
	switch p.tag.atom {
	case atom.Caption:
		p.endCaption()
		return false
	case atom.Table:
		return p.endCaption()
	case atom.Body, atom.Col, atom.Colgroup, atom.Html, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr:
		return false
	}
	return p.endInBody()
}

func (p *parser) endCaption() bool {
	if !p.close(tableScope, atom.Caption) {
		return false
	}
	p.clearFormatting()
	p.mode = inTable
	return true
}

func (p *parser) startInColumnGroup() bool {
	switch p.tag.atom {
	case atom.Html:
		return p.startInBody()
	case atom.Col:
		p.addVoid()
		return false
	case atom.Template:
		p.metadata()
		return false
	}
	return p.leave()
}

func (p *parser) endInColumnGroup() bool {
	switch p.tag.atom {
	case atom.Colgroup:
		p.leave()
		return false
	case atom.Col:
		return false
	case atom.Template:
		p.endTemplate()
		return false
	}
	return p.leave()
}

func (p *parser) startInTableBody() bool {
	switch p.tag.atom {
	case atom.Tr:
		p.closeTo(bodyContext)
		p.add()
		p.mode = inRow
		return false
	case atom.Td, atom.Th:
		p.closeTo(bodyContext)
		p.imply(atom.Tr)
		p.mode = inRow
		return true
	case atom.Caption, atom.Col, atom.Colgroup, atom.Tbody, atom.Tfoot, atom.Thead:
		return p.endRowGroup()
	}
	return p.startInTable()
}

func (p *parser) endInTableBody() bool {
	switch p.tag.atom {
	case atom.Tbody, atom.Tfoot, atom.Thead:
		if p.inScope(tableScope, p.tag.atom) >= 0 {
			p.closeTo(bodyContext)
			p.pop()
			p.mode = inTable
		}
		return false
	case atom.Table:
		return p.endRowGroup()
	case atom.Body, atom.Caption, atom.Col, atom.Colgroup, atom.Html, atom.Td, atom.Th, atom.Tr:
		return false
	}
	return p.endInTable()
}

// endRowGroup closes the group of rows that is open; false if there is none.
func (p *parser) endRowGroup() bool {
	if !p.closeKind(tableScope, rowGroup) {
		return false
	}
	p.mode = inTable
	return true
}

func (p *parser) startInRow() bool {
	switch p.tag.atom {
	case atom.Td, atom.Th:
		p.closeTo(rowContext)
		p.add()
		p.marker()
		p.mode = inCell
		return false
	case atom.Caption, atom.Col, atom.Colgroup, atom.Tbody, atom.Tfoot, atom.Thead, atom.Tr:
		return p.endRow()
	}
	return p.startInTable()
}

func (p *parser) endInRow() bool {
	switch p.tag.atom {
	case atom.Tr:
		p.endRow()
		return false
	case atom.Table:
		return p.endRow()
	case atom.Tbody, atom.Tfoot, atom.Thead:
		return p.inScope(tableScope, p.tag.atom) >= 0 && p.endRow()
	case atom.Body, atom.Caption, atom.Col, atom.Colgroup, atom.Html, atom.Td, atom.Th:
		return false
	}
	return p.endInTable()
}

// endRow closes the row that is open; false if there is none.
func (p *parser) endRow() bool {
	if p.inScope(tableScope, atom.Tr) < 0 {
		return false
	}
	p.closeTo(rowContext)
	p.pop()
	p.mode = inTableBody
	return true
}

func (p *parser) startInCell() bool {
	switch p.tag.atom {
	case atom.Caption, atom.Col, atom.Colgroup, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr:
		return p.endCell()
	}
	return p.startInBody()
}

func (p *parser) endInCell() bool {
	switch p.tag.atom {
	case atom.Td, atom.Th:
		if p.close(tableScope, p.tag.atom) {
			p.clearFormatting()
			p.mode = inRow
		}
		return false
	case atom.Table, atom.Tbody, atom.Tfoot, atom.Thead, atom.Tr:
		return p.inScope(tableScope, p.tag.atom) >= 0 && p.endCell()
	case atom.Body, atom.Caption, atom.Col, atom.Colgroup, atom.Html:
		return false
	}
	return p.endInBody()
}

// endCell closes the cell that is open; false if there is none.
func (p *parser) endCell() bool {
	if !p.closeKind(tableScope, cell) {
		return false
	}
	p.clearFormatting()
	p.mode = inRow
	return true
}

// startInTemplate finds out by its first tag what a template holds.
func (p *parser) startInTemplate() bool {
	holds := inBody
	switch p.tag.atom {
	case atom.Base, atom.Basefont, atom.Bgsound, atom.Link, atom.Meta, atom.Noframes, atom.Script, atom.Style, atom.Template, atom.Title:
		p.metadata()
		return false
	case atom.Caption, atom.Colgroup, atom.Tbody, atom.Tfoot, atom.Thead:
		holds = inTable
	case atom.Col:
		holds = inColumnGroup
	case atom.Tr:
		holds = inTableBody
	case atom.Td, atom.Th:
		holds = inRow
	}
	p.templates[len(p.templates)-1] = holds
	p.mode = holds
	return true
}
