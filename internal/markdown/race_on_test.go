//go:build race

package markdown

// raceDetector slows everything down, so that timed tests take smaller pages.
const raceDetector = true
