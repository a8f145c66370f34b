package webfetch

// dropInvisible leaves out the characters that no reader sees and that can carry or turn words: the bidirectional
// controls and the tag characters. dropped is their number.
func dropInvisible(text string) (shown string, dropped int) { panic("skeleton") }

// droppedNote tells of them.
func droppedNote(dropped int) Note { panic("skeleton") }
