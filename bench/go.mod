module github.com/wayleave/wayleave/bench

go 1.26.0

require (
	github.com/JohannesKaufmann/html-to-markdown/v2 v2.5.2
	github.com/wayleave/wayleave v0.0.0
	golang.org/x/net v0.62.0
)

require github.com/JohannesKaufmann/dom v0.3.1 // indirect

replace github.com/wayleave/wayleave => ../
