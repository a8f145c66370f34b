package untrusted

// lookalike gives the letter of the tags' name that r looks like, in small: letters of other scripts that most faces draw the
// same, small capitals, and letters with a stroke, none of which folds to the letter by itself. r is in lower case, so a
// letter whose capital alone looks like ours counts too. Any other r is given back.
func lookalike(r rune) rune {
	switch r {
	case '\u0441', '\u03C2', '\u1D04', '\uA4DA': // Cyrillic es; the sigma to which the lunate one decomposes
		return 'c'
	case '\u0435', '\u0454', '\u03B5', '\u1D07', '\u025B', '\uA4F0': // Cyrillic ie, Greek epsilon, Lisu
		return 'e'
	case '\u043E', '\u03BF', '\u03C3', '\u0585', '\u1D0F', '\u00F8', '\u0275', '\uA4F3', '0': // Cyrillic, Greek, Armenian, Lisu
		return 'o'
	case '\u0455', '\uA731', '\uA4E2': // Cyrillic dze
		return 's'
	case '\u0501', '\u1D05', '\u0111', '\u0257', '\uA4D3': // Cyrillic komi de
		return 'd'
	case '\u051D', '\u0461', '\u03C9', '\u1D21', '\uA4EA': // Cyrillic we and omega, Greek omega
		return 'w'
	case '\u0432', '\u044C', '\u03B2', '\u0299', '\uA4D0': // Cyrillic ve and the soft sign, Greek beta
		return 'b'
	case '\u0442', '\u03C4', '\u1D1B', '\u0167', '\uA4D4': // Cyrillic te, Greek tau
		return 't'
	case '\u0433', '\u0280', '\uA4E3': // Cyrillic ghe
		return 'r'
	case '\u0578', '\u03B7', '\u03BD', '\u0274', '\uA4E0': // Armenian vo, Greek eta and nu
		return 'n'
	case '\u057D', '\u03C5', '\u1D1C', '\uA4F4': // Armenian seh, Greek upsilon
		return 'u'
	}
	return r
}
