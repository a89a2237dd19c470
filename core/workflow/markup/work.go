package markup

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

// A selector with two descendant steps checks, for each element, all pairs of its ancestors,
// and one with two ~ all pairs before it. Nothing interrupts that, so the work is computed
// before it begins.

// workMax bounds matches tried: 100 million take about a second.
const workMax = 100 << 20

// cost is the part of a selector that multiplies work.
type cost struct {
	above  int // steps from an element to all its ancestors: white space
	before int // steps to all before it: ~, and :nth-... and their like, which count them
	below  int // searches of all below it: :has, :contains, :matches, :empty
	parts  int // selectors separated by commas
}

// costOf counts them. Text in brackets and quotes is no step.
func costOf(css string) (cost, error) {
	c := cost{parts: 1}
	parens, space, step := 0, false, false
	for i := 0; i < len(css); i++ {
		switch ch := css[i]; ch {
		case '\\':
			i++
			step = true
		case '"', '\'':
			for i++; i < len(css) && css[i] != ch; i++ {
				if css[i] == '\\' {
					i++
				}
			}
		case '[':
			for i++; i < len(css) && css[i] != ']'; i++ {
				if q := css[i]; q == '"' || q == '\'' {
					for i++; i < len(css) && css[i] != q; i++ {
						if css[i] == '\\' {
							i++
						}
					}
				}
			}
			space, step = false, true
		case ' ', '\t', '\n', '\r', '\f':
			space = step
		case '>', '+', '~', ',':
			if ch == '~' {
				c.before++
			}
			if ch == ',' {
				c.parts++
			}
			space, step = false, false
		case '(':
			if parens++; parens > 8 {
				return c, errors.New("the selector has brackets nested more than 8 deep")
			}
			step = false
		case ')':
			parens--
			step = true
		default:
			if space {
				c.above++
			}
			space, step = false, true
		}
	}
	low := strings.ToLower(css)
	c.before += strings.Count(low, ":nth-") + strings.Count(low, "-of-type") + strings.Count(low, ":only-") + strings.Count(low, ":last-") + strings.Count(low, ":first-")
	c.below = strings.Count(low, ":has") + strings.Count(low, ":contains") + strings.Count(low, ":matches") + strings.Count(low, ":empty")
	if strings.Contains(low, ":has") && c.below > 1 {
		return c, fmt.Errorf("the selector %q looks below elements more than once: use one of :has, :contains and :matches", css)
	}
	return c, nil
}

// shape is the part of a page that multiplies work: histograms of how many elements are above
// and before each one.
type shape struct {
	elements int
	above    [513]int32
	before   map[int]int
	below    int // sum of depths: pairs of an element and one below it
	bytes    int // of text, once for each element around it
}

func (p *Page) measure() error {
	s := &p.shape
	s.before = map[int]int{}
	type place struct{ depth, before int }
	at := map[*html.Node]place{p.root: {}}
	for n := range p.root.Descendants() {
		parent := at[n.Parent]
		if n.Type != html.ElementNode {
			s.bytes += len(n.Data) * (parent.depth + 1)
			continue
		}
		here := place{depth: parent.depth + 1}
		at[n.Parent] = place{parent.depth, parent.before + 1}
		at[n] = here
		if s.elements++; s.elements > ElementsMax {
			return fmt.Errorf("a page of more than %d elements", ElementsMax)
		}
		s.above[min(here.depth, len(s.above)-1)]++
		s.before[parent.before]++
		s.below += here.depth
	}
	return nil
}

// work returns about how many matches a selector tries, at most.
func (s *shape) work(c cost) int {
	if s.elements == 0 {
		return 0
	}
	above, before := 0, 0
	for depth, n := range s.above {
		above = capped(above + int(n)*choose(depth, c.above))
	}
	//lint:orderfree a sum
	for n, times := range s.before {
		before = capped(before + times*choose(n, c.before))
	}
	// Each element tries all ways up times all ways back; on average, because the deepest
	// elements do not have the most before them.
	work := max(above, before)
	if c.above > 0 && c.before > 0 {
		work = capped(above / s.elements * before)
	}
	if c.below > 0 {
		work = capped(work/s.elements+1) * (s.below + s.bytes/8)
	}
	return capped(work * c.parts)
}

func capped(n int) int { return min(max(n, 0), 1<<40) }

// choose returns the number of ways to take k of n or fewer.
func choose(n, k int) int {
	ways, total := 1, 1
	for i := 1; i <= k; i++ {
		if n-i+1 <= 0 {
			break
		}
		ways = capped(ways * (n - i + 1) / i)
		total = capped(total + ways)
	}
	return total
}
