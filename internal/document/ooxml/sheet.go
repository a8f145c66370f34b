package ooxml

import (
	"strconv"

	"github.com/wayleave/wayleave/internal/document/pack"
)

// Sheet finds the part of a workbook's i-th sheet, which the workbook names by the id of a relation; ending is that of the
// parts' names, such as "xml". A sheet without cells has words to stand in its place; one without a part has no part.
func Sheet(a *pack.Archive, workbook Relations, id string, i int, ending string) (part, instead string) {
	rel, ok := workbook.ByID(id)
	if !ok || !a.Has(rel.Target) {
		rel = Relation{Kind: "worksheet", Target: "xl/worksheets/sheet" + strconv.Itoa(i+1) + "." + ending}
	}
	switch {
	case rel.Kind == "chartsheet":
		return rel.Target, "This sheet is a chart."
	case rel.Kind == "dialogsheet":
		return rel.Target, "This sheet is a dialog."
	case !a.Has(rel.Target):
		return "", "The file holds nothing for this sheet."
	}
	return rel.Target, ""
}
