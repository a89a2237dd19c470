package demand

import (
	"hyperscale/core/message"
	"hyperscale/core/plan"
	"hyperscale/core/workflow/language"
)

// rowWords lists the words that follow a row.
func rowWords() []string {
	all := ThresholdWords()
	for _, m := range plan.Measures() {
		all = append(all, m.Name)
	}
	return all
}

// measureSubject reads a measure of a protocol, and the statistic of its times.
func measureSubject(t *message.Threshold, word, rest string) *language.Fault {
	t.Measure = word
	if plan.MeasureOf(word).Kind == message.MeasureCount {
		if t.Of = message.OfCount; rest != "" {
			return language.Faultf("%s has no %q", word, language.Clip(rest, 40)).Do("write %q", word)
		}
		return nil
	}
	t.Of = message.OfMeasure
	if plan.MeasureOf(word).Kind == message.MeasureAmounts {
		t.Of = message.OfAmount
	}
	if rest == "count" || rest == "sum" {
		return statisticUnknown(word, rest, false)
	}
	return parseStatistic(t, word, rest)
}
