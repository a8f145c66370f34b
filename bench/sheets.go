package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/xuri/excelize/v2"

	"github.com/wayleave/wayleave/internal/document"
	"github.com/wayleave/wayleave/internal/document/xlsx"
)

// sheets prints what a workbook of 50,000 cells costs: ours to Markdown, the peer to its rows alone.
func sheets() error {
	const rows = 5000
	book, err := workbook(rows)
	if err != nil {
		return err
	}
	all := []page{{name: "workbook", html: string(book)}}
	ours := func(page) error {
		_, err := xlsx.Read(context.Background(), book, document.Limits{Rows: rows})
		return err
	}
	theirs := func(page) error {
		f, err := excelize.OpenReader(bytes.NewReader(book))
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.GetRows("Sheet1")
		return err
	}
	const repeat = 5
	var ratio []float64
	var oursBytes, peerBytes float64
	for round := range rounds + 1 {
		o, ob, err := measure(all, repeat, ours)
		if err != nil {
			return err
		}
		t, tb, err := measure(all, repeat, theirs)
		if err != nil {
			return err
		}
		if round == 0 { // warm-up
			continue
		}
		ratio = append(ratio, o.Seconds()/t.Seconds())
		oursBytes, peerBytes = float64(ob)/repeat, float64(tb)/repeat
	}
	fmt.Printf("\nxlsx of 50,000 cells to Markdown, CPU ÷ excelize's rows alone: %.2f; allocated %.0f MB, excelize %.0f MB\n", median(ratio), oursBytes/1e6, peerBytes/1e6)
	return nil
}

// workbook makes a sheet of ten columns of several kinds.
func workbook(rows int) ([]byte, error) {
	f := excelize.NewFile()
	defer f.Close()
	w, err := f.NewStreamWriter("Sheet1")
	if err != nil {
		return nil, err
	}
	for r := range rows {
		cells := []any{fmt.Sprint("Item ", r), r, float64(r) * 1.25, "note", fmt.Sprintf("text of row %d with some words", r), 0.5, r % 7, "ok", true, float64(r) / 3}
		if err := w.SetRow(fmt.Sprintf("A%d", r+1), cells); err != nil {
			return nil, err
		}
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	out, err := f.WriteToBuffer()
	if err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
