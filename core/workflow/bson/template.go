package bson

// Template is a document with places for values. It does not change.
type Template struct {
	pieces []piece
	open   bool
}

// does is what a piece adds.
type does uint8

const (
	doesBytes  does = iota
	doesBegin       // of a document
	doesEnd         // of the same
	doesScalar      // a value of its form
)

type piece struct {
	does  does
	form  form
	bytes []byte
	parts []part
}

// Open reports whether values stand in it.
func (t *Template) Open() bool { return t.open }

// Append appends the document with its values. After an error dst is what it was.
func (t *Template) Append(dst []byte, values [][]byte) ([]byte, error) {
	first := len(dst)
	var starts [DepthMost + 1]int
	depth := 0
	for i := range t.pieces {
		switch p := &t.pieces[i]; p.does {
		case doesBytes:
			dst = append(dst, p.bytes...)
		case doesBegin:
			starts[depth] = len(dst)
			depth++
			dst = append(dst, 0, 0, 0, 0)
		case doesEnd:
			depth--
			dst = append(dst, 0)
			putLength(dst, starts[depth], len(dst)-starts[depth])
		default:
			var err error
			if dst, err = p.append(dst, values); err != nil {
				return dst[:first], err
			}
		}
	}
	return dst, nil
}

// append appends a scalar with its values.
func (p *piece) append(dst []byte, values [][]byte) ([]byte, error) {
	if p.form == formText {
		start := len(dst)
		dst = append(dst, 0, 0, 0, 0)
		for _, one := range p.parts {
			if dst = append(dst, one.text...); one.value >= 0 {
				dst = append(dst, values[one.value]...)
			}
		}
		dst = append(dst, 0)
		putLength(dst, start, len(dst)-start-4)
		if !validText(dst[start+4 : len(dst)-1]) {
			return dst, errText
		}
		return dst, nil
	}
	text := ""
	for _, one := range p.parts {
		if text += one.text; one.value >= 0 {
			text += string(values[one.value])
		}
	}
	return p.form.append(dst, text)
}
