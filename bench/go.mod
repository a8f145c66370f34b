module github.com/wayleave/wayleave/bench

go 1.26.0

require (
	github.com/JohannesKaufmann/html-to-markdown/v2 v2.5.2
	github.com/wayleave/wayleave v0.0.0
	golang.org/x/net v0.62.0
)

require (
	github.com/JohannesKaufmann/dom v0.3.1 // indirect
	github.com/andybalholm/brotli v1.3.0 // indirect
	github.com/bits-and-blooms/bitset v1.20.0 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/nlnwa/whatwg-url v0.6.2 // indirect
	golang.org/x/text v0.44.0 // indirect
)

replace github.com/wayleave/wayleave => ../
