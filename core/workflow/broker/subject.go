package broker

import (
	"strings"

	"hyperscale/core/workflow/language"
)

const subjectMost = 1024 // bytes; nats-server takes lines of 4 KiB

// checkSubject rejects a subject that a server would cut or refuse. Wild: it may have wildcards.
func checkSubject(fn, argument, subject string, wild bool) error {
	wrong := func(what, remedy string) error {
		return language.Faultf("%s: %s = %q %s", fn, argument, language.Clip(subject, 60), what).In(argument).Do("%s", remedy)
	}
	switch {
	case subject == "":
		return wrong("is empty", "write "+argument+" = \"orders.new\"")
	case len(subject) > subjectMost:
		return wrong("is longer than 1024 bytes", "shorten it")
	case strings.ContainsAny(subject, " \t\r\n\x00"):
		return wrong("has a blank in it, which ends it", "write words with dots between them, as in \"orders.new\"")
	case strings.HasPrefix(subject, ".") || strings.HasSuffix(subject, ".") || strings.Contains(subject, ".."):
		return wrong("has an empty word", "write one dot between two words, as in \"orders.new\"")
	}
	words := strings.Split(subject, ".")
	for i, word := range words {
		switch {
		case word != "*" && word != ">":
		case !wild:
			return wrong("has the wildcard "+word, "only a subscription has wildcards: name one subject")
		case word == ">" && i < len(words)-1:
			return wrong("has > before its last word", "write > at the end, or * for one word")
		}
	}
	return nil
}
