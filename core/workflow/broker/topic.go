package broker

import (
	"strings"
	"unicode/utf8"

	"hyperscale/core/workflow/language"
)

const topicMost = 65535 // bytes: a length of MQTT has 16 bits

// wrongTopic says why no server takes a topic; empty: there is no reason.
func wrongTopic(topic string) (what, remedy string) {
	switch {
	case topic == "":
		return "is empty", "write words with slashes between them, as in \"dev/1/t\""
	case len(topic) > topicMost:
		return "is longer than 65535 bytes", "shorten it"
	case !utf8.ValidString(topic):
		return "is not UTF-8", "write it as a text"
	case strings.IndexByte(topic, 0) >= 0:
		return "has a zero in it", "write words with slashes between them, as in \"dev/1/t\""
	}
	return "", ""
}

// checkTopic rejects a topic that no message may have.
func checkTopic(fn, topic string) error {
	what, remedy := wrongTopic(topic)
	if what == "" && strings.ContainsAny(topic, "+#") {
		what, remedy = "has a wildcard", "only a subscription has wildcards: name one topic"
	}
	if what == "" {
		return nil
	}
	return language.Faultf("%s: topic = %q %s", fn, language.Clip(topic, 60), what).In("topic").Do("%s", remedy)
}

// checkFilter rejects a topic that no subscription may have.
func checkFilter(fn, filter string) error {
	what, remedy := wrongTopic(filter)
	if what == "" {
		what, remedy = wrongWildcard(filter)
	}
	if what == "" {
		return nil
	}
	return language.Faultf("%s: the topic %q %s", fn, language.Clip(filter, 60), what).In("topics").Do("%s", remedy)
}

// wrongWildcard says why a filter's wildcards are none; empty: there is no reason.
func wrongWildcard(filter string) (what, remedy string) {
	if rest, shared := strings.CutPrefix(filter, "$share/"); shared {
		group, topic, found := strings.Cut(rest, "/")
		if !found || group == "" || topic == "" || strings.ContainsAny(group, "+#") {
			return "is shared, and has no group and topic", "write \"$share/group/dev/+/t\""
		}
		filter = topic
	}
	words := strings.Split(filter, "/")
	for i, word := range words {
		switch {
		case strings.Contains(word, "#") && (word != "#" || i < len(words)-1):
			return "has # before its end, or within a word", "write # as the last word, as in \"dev/#\""
		case strings.Contains(word, "+") && word != "+":
			return "has + within a word", "write + for a whole word, as in \"dev/+/t\""
		}
	}
	return "", ""
}
