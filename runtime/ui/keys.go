package ui

import "hyperscale/runtime/ui/console"

import tea "charm.land/bubbletea/v2"

// press answers a key.
func (s *screen) press(key string) tea.Cmd {
	switch key {
	case "ctrl+c", "q":
		s.interrupt()
	case "ctrl+l":
		return tea.ClearScreen
	case "ctrl+z":
		console.StopGroup()
	default:
		_, most := draw(s.model, s.style, s.view, s.height)
		s.view = s.view.press(key, max(1, s.height-8), most)
	}
	return nil
}

// press applies a key to a view that can scroll by at most most rows, a page at a time.
func (v View) press(key string, page, most int) View {
	show := func(tab int) {
		v.Tab, v.Scroll, v.Help = (tab+len(tabNames))%len(tabNames), 0, false
	}
	scroll := func(to int) { v.Scroll = min(max(to, 0), most) }
	switch key {
	case "tab", "right", "l":
		show(v.Tab + 1)
	case "shift+tab", "left", "h":
		show(v.Tab - 1)
	case "down", "j":
		scroll(v.Scroll + 1)
	case "up", "k":
		scroll(min(v.Scroll, most) - 1)
	case "pgdown", "space", "ctrl+f":
		scroll(v.Scroll + page)
	case "pgup", "b", "ctrl+b":
		scroll(min(v.Scroll, most) - page)
	case "home", "g":
		scroll(0)
	case "end", "G":
		scroll(most)
	case "w":
		v.Recent = !v.Recent
	case "?":
		v.Help, v.Scroll = !v.Help, 0
	case "esc":
		v.Help = false
	default:
		if len(key) == 1 && key[0] >= '1' && int(key[0]-'1') < len(tabNames) {
			show(int(key[0] - '1'))
		}
	}
	return v
}
