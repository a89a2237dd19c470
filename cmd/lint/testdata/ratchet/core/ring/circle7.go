package ring

func f7() { f8() }
