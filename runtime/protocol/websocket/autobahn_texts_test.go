package websocket_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

const kosme = "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5"

// texts is 6: which bytes are UTF-8, and how soon a client sees that they are not.
func texts() (all []trial) {
	good := func(number string, frames [][]byte, text string) {
		all = append(all, trial{number: number, pieces: whole(frames...), want: []string{says(1, []byte(text))}, code: 1000})
	}
	bad := func(number string, last int, pieces ...[]byte) {
		all = append(all, trial{number: number, pieces: pieces, end: endFails, code: 1007, last: last})
	}
	const mixed = "Hello-µ@ßöäüàá-UTF-8!!"
	good("6.1.1", [][]byte{fr(0x81, "")}, "")
	good("6.1.2", [][]byte{fr(0x01, ""), fr(0x00, ""), fr(0x80, "")}, "")
	good("6.1.3", [][]byte{fr(0x01, ""), fr(0x00, "middle frame payload"), fr(0x80, "")}, "middle frame payload")
	good("6.2.1", [][]byte{fr(0x81, mixed)}, mixed)
	half := strings.Index(mixed, "ü")
	good("6.2.2", [][]byte{fr(0x01, mixed[:half]), fr(0x80, mixed[half:])}, mixed)
	good("6.2.3", [][]byte{inFrames(1, []byte(mixed), 1)}, mixed)
	good("6.2.4", [][]byte{inFrames(1, []byte(kosme), 1)}, kosme)
	surrogate := kosme + "\xed\xa0\x80edited"
	bad("6.3.1", -1, fr(0x81, surrogate))
	bad("6.3.2", -1, inFrames(1, []byte(surrogate), 1))
	const beyond = kosme + "\xf4\x90\x80\x80edited" // no text can hold its byte 12
	bad("6.4.1", 1, fr(0x01, beyond[:11]), fr(0x00, beyond[11:15]), fr(0x80, beyond[15:]))
	bad("6.4.2", 1, fr(0x01, beyond[:12]), fr(0x00, beyond[12:13]), fr(0x80, beyond[13:]))
	one := fr(0x81, beyond)
	head := len(one) - len(beyond)
	bad("6.4.3", 1, one[:head+11], one[head+11:head+15], one[head+15:])
	bad("6.4.4", 1, one[:head+12], one[head+12:head+13], one[head+13:])
	for i, set := range sequences() {
		for j, s := range set {
			number := fmt.Sprintf("6.%d.%d", i+5, j+1)
			if text, invalid := strings.CutPrefix(s, "!"); invalid {
				bad(number, -1, fr(0x81, text))
			} else {
				good(number, [][]byte{fr(0x81, text)}, text)
			}
		}
	}
	return all
}

// sequences are Markus Kuhn's sets of UTF-8 and of what is not, from 6.5 on; those that begin with ! are invalid.
func sequences() [][]string {
	marked := func(all ...string) []string {
		for i := range all {
			all[i] = "!" + all[i]
		}
		return all
	}
	sets := [][]string{{"hello$world", "hello¢world", "hello€world", "hello\U00024b62world", kosme}}
	var prefixes []string
	for n := 1; n <= len(kosme); n++ {
		prefixes = append(prefixes, kosme[:n])
		if !slices.Contains([]int{2, 5, 7, 9, 11}, n) {
			prefixes[n-1] = "!" + kosme[:n]
		}
	}
	var trailing, lonely []string
	for _, n := range []int{1, 1, 2, 3, 4, 5, 6} {
		trailing = append(trailing, "!"+strings.Repeat("\x80\xbf", 3)[:n])
	}
	trailing[1] = "!\xbf"
	run := ""
	for c := 0x80; c < 0xbf; c++ {
		run += string([]byte{byte(c)})
	}
	for _, of := range [][2]int{{0xc0, 0xdf}, {0xe0, 0xef}, {0xf0, 0xf7}, {0xf8, 0xfb}, {0xfc, 0xfd}} {
		s := "!"
		for c := of[0]; c < of[1]; c++ {
			s += string([]byte{byte(c), ' '})
		}
		lonely = append(lonely, s)
	}
	cut := []string{"\xc0", "\xe0\x80", "\xf0\x80\x80", "\xf8\x80\x80\x80", "\xfc\x80\x80\x80\x80", "\xdf", "\xef\xbf", "\xf7\xbf\xbf", "\xfb\xbf\xbf\xbf", "\xfd\xbf\xbf\xbf\xbf"}
	concatenated := strings.Join(cut, "")
	pairs := []string{"\xed\xa0\x80\xed\xb0\x80", "\xed\xa0\x80\xed\xbf\xbf", "\xed\xad\xbf\xed\xb0\x80", "\xed\xad\xbf\xed\xbf\xbf",
		"\xed\xae\x80\xed\xb0\x80", "\xed\xae\x80\xed\xbf\xbf", "\xed\xaf\xbf\xed\xb0\x80", "\xed\xaf\xbf\xed\xbf\xbf"}
	var none []string // code points that are no characters, and valid
	for plane := range rune(17) {
		none = append(none, string(plane<<16|0xfffe), string(plane<<16|0xffff))
	}
	return append(sets,
		prefixes,
		[]string{"\x00", "\u0080", "\u0800", "\U00010000"},
		marked("\xf8\x88\x80\x80\x80", "\xfc\x84\x80\x80\x80\x80"),
		[]string{"\x7f", "\u07ff", "\uffff", "\U0010ffff"},
		marked("\xf7\xbf\xbf\xbf", "\xfb\xbf\xbf\xbf\xbf", "\xfd\xbf\xbf\xbf\xbf\xbf"),
		[]string{"\ud7ff", "\ue000", "\ufffd", "\U0010ffff", "!\xf4\x90\x80\x80"},
		append(trailing, "!"+run),
		lonely,
		marked(slices.Clone(cut)...),
		marked(concatenated),
		marked("\xfe", "\xff", "\xfe\xfe\xff\xff"),
		marked("\xc0\xaf", "\xe0\x80\xaf", "\xf0\x80\x80\xaf", "\xf8\x80\x80\x80\xaf", "\xfc\x80\x80\x80\x80\xaf"),
		marked("\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xf8\x87\xbf\xbf\xbf", "\xfc\x83\xbf\xbf\xbf\xbf"),
		marked("\xc0\x80", "\xe0\x80\x80", "\xf0\x80\x80\x80", "\xf8\x80\x80\x80\x80", "\xfc\x80\x80\x80\x80\x80"),
		marked("\xed\xa0\x80", "\xed\xad\xbf", "\xed\xae\x80", "\xed\xaf\xbf", "\xed\xb0\x80", "\xed\xbe\x80", "\xed\xbf\xbf"),
		marked(pairs...),
		none,
		[]string{"\ufff9", "\ufffa", "\ufffb", "\ufffc", "\ufffd", "\ufffe", "\uffff"})
}

// contents are messages of size characters, or bytes, from one of five texts and files, which repeat.
func contents(set, size, count int) (opcode byte, messages [][]byte) {
	random := rand.New(rand.NewPCG(uint64(set), 1))
	words := []string{"Faust", "Straße", "habe nun, ach!", "\n", "Größe", "the", "of", `{"id": 7, "name": "Zoë"}`, "<p class=\"a\">", "</p>"}
	var all []rune
	for len(all) < 200_000 {
		switch set {
		case 1: // a picture: neighbours are alike
			all = append(all, rune(128+random.IntN(16)))
		case 4: // a document that is compressed already
			all = append(all, rune(random.IntN(256)))
		default:
			all = append(all, []rune(words[random.IntN(len(words))]+" ")...)
		}
	}
	text := set == 0 || set == 3
	if opcode = 2; text {
		opcode = 1
	}
	for at := 0; len(messages) < count; at += size {
		if at+size > len(all) {
			at = 0
		}
		if some := all[at : at+size]; text {
			messages = append(messages, []byte(string(some)))
		} else {
			b := make([]byte, 0, size)
			for _, c := range some {
				b = append(b, byte(c))
			}
			messages = append(messages, b)
		}
	}
	return opcode, messages
}
