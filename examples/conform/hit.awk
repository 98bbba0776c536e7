# Hit rate at k in awk, for `atkay conform "awk -f hit.awk" -m hit@5`. Users without a list are left out.
{
    match($0, /"k": [0-9]+/); k = substr($0, RSTART + 5, RLENGTH - 5) + 0  # the first one: an item may be called k, too
    recs = $0; sub(/.*"recs": \{/, "", recs); sub(/\}, "truth".*/, "", recs)
    truth = $0; sub(/.*"truth": \{/, "", truth)
    users = hits = 0
    while (match(truth, /"[^"]*": \{[^}]*\}/)) {
        grades = substr(truth, RSTART, RLENGTH); truth = substr(truth, RSTART + RLENGTH)
        user = grades; sub(/": \{.*/, "\": [[", user); sub(/.*": \{/, "", grades)
        split("", relevant); n = split(grades, pair, /, |\}/); some = 0
        for (i = 1; i <= n; i++)
            if (split(pair[i], of, /": /) == 2 && of[2] > 0) { relevant[substr(of[1], 2)] = 1; some = 1 }
        at = index(recs, user)
        if (!some || !at) continue
        list = substr(recs, at + length(user)); sub(/\]\].*/, "", list)
        n = split(list, row, /\], \[/)
        for (i = 1; i <= n; i++) { split(row[i], of, /", /); item[i] = substr(of[1], 2); score[i] = of[2] + 0 }
        split("", taken); split("", seen); hit = rank = 0
        while (rank < k) {
            best = 0
            for (i = 1; i <= n; i++) if (!(i in taken) && (!best || score[i] > score[best])) best = i
            if (!best) break
            taken[best] = 1
            if (item[best] in seen) continue
            seen[item[best]] = 1; rank++
            if (item[best] in relevant) hit = 1
        }
        users++; hits += hit
    }
    if (users) printf "%.15g\n", hits / users; else print "null"
}
