"""The formula of each metric by default, typeset. A metric that is not here shows the formula of its definition."""

HITS = r"\sum_{i=1}^{k} \mathrm{rel}_i"
AP = r"\sum_{i=1}^{k} \mathrm{rel}_i \; \mathrm{precision}@i"
DCG = r"\sum_{i=1}^{k} \frac{2^{g_i} - 1}{\log_2(i + 1)}"
NEW = r"\sum_{t \in T_i} (1 - \alpha)^{r_{t,i}}"

FORMULAS = {
    "alpha_dcg": r"\frac{1}{\mathrm{ideal}} \sum_{i=1}^{k} \frac{\mathrm{rel}_i}{\log_2(i + 1)} " + NEW,
    "alpha_ndcg": r"\frac{1}{\mathrm{greedy}} \sum_{i=1}^{k} \frac{\mathrm{rel}_i}{\log_2(i + 1)} " + NEW,
    "ap_ia": r"\frac{1}{S} \sum_{t} \mathrm{AP}_t",
    "arp": r"\frac{1}{L} \sum_{i=1}^{L} n_i",
    "auc": r"\frac{1}{R \, N} \sum_{h} (N - N_h)",
    "awrf": r"1 - \tfrac{1}{2} \sum_{c} \left( p_c \ln \frac{p_c}{m_c} + q_c \ln \frac{q_c}{m_c} \right), \quad "
    r"m_c = \frac{p_c + q_c}{2}",
    "bias_disparity": r"\frac{1}{|\{G\}|} \sum_{G} \left| \frac{B_R(G) - B_S(G)}{B_S(G)} \right|, \quad "
    r"B(G) = \frac{\mathrm{PR}(G)}{P(G)}",
    "bpref": r"\frac{1}{R} \sum_{h} \left( 1 - \frac{\min(n_h, R)}{\min(N, R)} \right)",
    "calibration": r"\sum_{c} p_c \ln \frac{p_c}{(1 - \alpha) \, q_c + \alpha \, p_c}",
    "category_count": r"| \bigcup_{i=1}^{k} C_i |",
    "category_entropy": r"- \sum_{c} p_c \log_2 p_c",
    "count": r"L_u",
    "coverage": r"\frac{| \bigcup_u \mathrm{top}_k(u) |}{| \mathrm{catalog} |}",
    "dcg": r"\mathrm{DCG}@k = " + DCG,
    "ece": r"\sum_{b} \frac{n_b}{n} \, | \bar{p}_b - \bar{y}_b |",
    "effective_sample_size": r"\frac{(\sum 1/p)^2}{\sum 1/p^2}",
    "efd": r"\frac{\sum_{i=1}^{k} w_i \, \mathrm{rel}_i \, (-\log_2 \frac{n_i}{\sum_j n_j})}{\sum_{i=1}^{k} w_i}"
    r", \quad w_i = \frac{1}{\log_2(i + 1)}",
    "eild": r"\frac{\sum_{i=1}^{k} w_i \, \mathrm{rel}_i \, D_i}{\sum_{i=1}^{k} w_i}, \quad "
    r"D_i = \frac{\sum_{j \neq i} w_{\max(1, j - i)} \, \mathrm{rel}_j \, d(i, j)}"
    r"{\sum_{j \neq i} w_{\max(1, j - i)} \, \mathrm{rel}_j}, \quad w_n = \frac{1}{\log_2(n + 1)}",
    "entropy": r"- \sum_{i} p_i \log_2 p_i",
    "epc": r"\frac{\sum_{i=1}^{k} w_i \, \mathrm{rel}_i \, (1 - \frac{n_i}{|U|})}{\sum_{i=1}^{k} w_i}"
    r", \quad w_i = \frac{1}{\log_2(i + 1)}",
    "err": r"\sum_{r=1}^{k} \frac{1}{r} \, R_r \prod_{i=1}^{r-1} (1 - R_i), "
    r"\quad R_i = \frac{2^{g_i} - 1}{2^{g_{\max}}}",
    "err_ia": r"\frac{1}{\mathrm{ideal}} \sum_{i=1}^{k} \frac{\mathrm{rel}_i}{i} " + NEW,
    "expected_exposure": r"\sum_i (e_i - e^{*}_i)^2, \quad e_i = \gamma^{\mathrm{rank}_i - 1}",
    "exposure": r"\frac{\max_G E_G}{\min_G E_G}, \quad E_G = \frac{1}{|U| \, |G|} "
    r"\sum_{i \in G} \frac{1}{\log_2(1 + \mathrm{rank}_i)}",
    "f1": r"F_\beta@k = \frac{(1 + \beta^2) \; \mathrm{precision}@k \; \mathrm{recall}@k}"
    r"{\beta^2 \; \mathrm{precision}@k + \mathrm{recall}@k}",
    "gini": r"\frac{\sum_{j=1}^{n} (2j - n - 1) \, x_j}{n \sum_{j=1}^{n} x_j}",
    "group_auc": r"\frac{\sum_u L_u \, \mathrm{AUC}_u}{\sum_u L_u}",
    "hit": r"\mathrm{hit}@k = \left[ " + HITS + r" > 0 \right]",
    "ips_dcg": r"\frac{1}{R} \sum_{i=1}^{k} \frac{\mathrm{rel}_i}{p_i \log_2(i + 1)}",
    "ips_hit": r"\sum_{i=1}^{k} \frac{\mathrm{rel}_i}{p_i}",
    "ips_ndcg": r"\frac{1}{\mathrm{IDCG}} \sum_{i=1}^{k} \frac{\mathrm{rel}_i}{p_i \log_2(i + 1)}",
    "ips_precision": r"\frac{1}{k} \sum_{i=1}^{k} \frac{\mathrm{rel}_i}{p_i}",
    "ips_recall": r"\frac{1}{R} \sum_{i=1}^{k} \frac{\mathrm{rel}_i}{p_i}",
    "ild": r"\frac{2}{L (L - 1)} \sum_{i < j} d(i, j)",
    "infap": r"\frac{1}{R} \sum_{h} \left( \frac{1}{l_h} + \frac{r_h + n_h + u_h}{l_h} \cdot "
    r"\frac{r_h + \varepsilon}{r_h + n_h + 2 \varepsilon} \right)",
    "inter_list_distance": r"1 - \frac{\sum_i c_i (c_i - 1)}{U (U - 1) \, k}",
    "interpolated_map": r"\frac{1}{11} \sum_{j=0}^{10} \max_{i : \mathrm{recall}@i \geq j / 10} \mathrm{precision}@i",
    "interpolated_precision": r"\max_{i : \mathrm{recall}@i \geq r} \mathrm{precision}@i",
    "judged": r"\frac{| \mathrm{top}_k \cap J_u |}{L}",
    "log_loss": r"- \frac{1}{n} \sum \left( y \ln p + (1 - y) \ln (1 - p) \right)",
    "item_mad": r"\mathrm{mean}_{G < H} \, | P_G - P_H |, \quad P_G = \frac{1}{|G|} \sum_{i \in G} \frac{h_i}{n_i}",
    "long_tail": r"\frac{| \mathrm{top}_k \setminus \mathrm{head} |}{L}",
    "mae": r"\frac{1}{n} \sum | s - g |",
    "map": r"\mathrm{AP}@k = \frac{1}{R} " + AP,
    "median_rank": r"\mathrm{median}_u \; \mathrm{rank}_u(\mathrm{first \; hit})",
    "mnap": r"\frac{1}{\min(k, R)} " + AP,
    "mpr": r"\frac{\sum g \, \frac{\mathrm{rank} - 1}{L - 1}}{\sum g}",
    "mrr": r"\mathrm{RR}@k = \frac{1}{\mathrm{rank \; of \; the \; first \; hit}}",
    "mse": r"\frac{1}{n} \sum (s - g)^2",
    "ndcg": r"\mathrm{nDCG}@k = \frac{\mathrm{DCG}@k}{\mathrm{IDCG}@k}, \quad \mathrm{DCG}@k = " + DCG,
    "ndcg_rel": r"\frac{1}{R} \sum_{r} \frac{\mathrm{DCG}@l_r}{\mathrm{IDCG}@l_r}, \quad "
    r"\mathrm{DCG}@l = \sum_{i=1}^{l} \frac{g_i}{\log_2(i + 1)}",
    "new_to_user": r"\frac{| \mathrm{top}_k \setminus H_u |}{L}",
    "normalized_gain": r"\frac{1}{\sum_{j=1}^{R} g^*_j} \sum_{h} \frac{g_h}{\log_2(2 + C_h - S_h)}, \quad "
    r"C_h = \sum_{i=1}^{l_h} \max(1, g^*_i), \; S_h = \sum_{i=1}^{l_h} g_i",
    "nerr_ia": r"\frac{1}{\mathrm{greedy}} \sum_{i=1}^{k} \frac{\mathrm{rel}_i}{i} " + NEW,
    "nnrbp": r"\frac{1}{\mathrm{greedy}} \sum_{i=1}^{k} \beta^{i - 1} \, \mathrm{rel}_i " + NEW,
    "novelty": r"\frac{1}{L} \sum_{i=1}^{L} - \log_2 \frac{n_i}{|U|}",
    "nrbp": r"\frac{1 - (1 - \alpha) \beta}{S} \sum_{i=1}^{k} \beta^{i - 1} \, \mathrm{rel}_i " + NEW,
    "p_ia": r"\frac{1}{S} \sum_{t} \frac{1}{k} \sum_{i=1}^{k} \mathrm{rel}_{t,i}",
    "pop_reo": r"\frac{\mathrm{std}_G(P_G)}{\mathrm{mean}_G(P_G)}, \quad "
    r"P_G = \frac{\mathrm{relevant \; and \; listed}}{\mathrm{relevant}}",
    "pop_rsp": r"\frac{\mathrm{std}_G(P_G)}{\mathrm{mean}_G(P_G)}, \quad "
    r"P_G = \frac{\mathrm{listed}}{\mathrm{could \; be \; listed}}",
    "popularity_lift": r"\frac{\bar{n}_{\mathrm{list}} - \bar{n}_{\mathrm{history}}}{\bar{n}_{\mathrm{history}}}",
    "precision": r"\mathrm{precision}@k = \frac{1}{k} " + HITS,
    "r2": r"1 - \frac{\sum (s - g)^2}{\sum (g - \bar{g})^2}",
    "r_precision": r"\frac{1}{R} \sum_{i=1}^{R} \mathrm{rel}_i",
    "rbp": r"(1 - p) \sum_{i=1}^{k} g_i \, p^{i - 1}",
    "rbp_residual": r"p^L",
    "recall": r"\mathrm{recall}@k = \frac{1}{R} " + HITS,
    "rndcg": r"\mathrm{mean}_n \; \frac{\mathrm{DCG}@n}{\mathrm{IDCG}@n}, \quad g^*_n \neq g^*_{n+1}",
    "rmse": r"\sqrt{\frac{1}{n} \sum (s - g)^2}",
    "row_auc": r"\frac{1}{N_+ N_-} \sum_{+} \sum_{-} \left( [s_+ > s_-] + \frac{1}{2} [s_+ = s_-] \right)",
    "serendipity": r"\frac{1}{L} \sum_{i=1}^{L} \max(P_i - P^0_i, 0) \, \mathrm{rel}_i",
    "set_map": r"\mathrm{precision} \cdot \mathrm{recall} = \frac{h^2}{L \, R}",
    "subtopic_recall": r"\frac{1}{S} \, | \bigcup_{i \le k, \, \mathrm{rel}_i = 1} T_i |",
    "surprisal": r"\frac{1}{L} \sum_{i=1}^{L} \frac{- \log_2 (n_i / |U|)}{\log_2 |U|}",
    "total": r"\sum_u L_u",
    "unjudged": r"\frac{| \mathrm{top}_k \setminus J_u |}{L}",
    "unexpectedness": r"\frac{| \mathrm{top}_k \setminus B_u |}{L}",
    "user_coverage": r"\frac{| \{ u : L_u > 0 \} |}{|U|}",
    "bpm": r"\frac{1}{s} \sum_{r=1}^{s} G_r, \quad G_r = \frac{g_r}{g_{\max}}, "
    r"\quad s = \min \left( k, \min \{ s : \textstyle\sum_{r \le s} G_r \ge t \} \right)",
    "compatibility": r"\frac{\sum_{d} p^{d-1} \, o_d / d}{\sum_{d} p^{d-1} \, o^{*}_d / d}",
    "insq": r"\frac{\sum_{r=1}^{k} w_r \, g_r / g_{\max}}{\sum_{r=1}^{k} w_r}, "
    r"\quad w_r = \left( \frac{2t}{r - 1 + 2t} \right)^2",
    "inst": r"\frac{\sum_{r=1}^{k} W_r G_r}{\sum_{r=1}^{k} W_r}, \quad W_{r+1} = W_r \left( "
    r"\frac{r - 1 + t + T_r}{r + t + T_r} \right)^2, \quad T_r = t - \sum_{i=1}^{r} G_i",
    "nerr": r"\frac{\sum_{r=1}^{k} b_r R_r \prod_{i=1}^{r-1} (1 - R_i)}"
    r"{\sum_{r=1}^{k} b_r \prod_{i=1}^{r-1} (1 - R_i)}",
    "sdcg": r"\frac{\sum_{r=1}^{k} \frac{g_r / g_{\max}}{\log_2(r + 1)}}{\sum_{r=1}^{k} \frac{1}{\log_2(r + 1)}}",
    "accuracy": r"\frac{h + C - R - (L - h)}{C}",
    "fall_out": r"\frac{L - h}{C - R}",
    "kendall": r"\tau_b = \frac{C - D}{\sqrt{\frac{n (n - 1)}{2} \, (C + D)}}",
    "mar": r"\frac{1}{k} \sum_{i=1}^{k} \mathrm{recall}@i = \frac{1}{k \, R} \sum_{h} (k - \mathrm{rank}_h + 1)",
    "mcc": r"\frac{h \, C - L \, R}{\sqrt{L \, R \, (C - L) (C - R)}}",
    "mean_rank": r"\frac{1}{R} \sum_{i \in \mathrm{rel}} \mathrm{rank}_i",
    "ndpm": r"\frac{D}{C + D}",
    "opa": r"\frac{C}{C + D}",
    "partial_auc": r"\frac{1}{k \, R} \sum_{h} \max(0, k - N_h)",
    "spearman": r"\frac{\mathrm{cov}(\mathrm{rank}, \mathrm{rank}_g)}"
    r"{\sigma(\mathrm{rank}) \; \sigma(\mathrm{rank}_g)}",
    "specificity": r"\frac{(C - R) - (L - h)}{C - R}",
    "top_auc": r"\frac{1}{h \, m} \sum_{h} (m - N_h), \quad m = L - h",
    "utility": r"\mathrm{hit} \cdot h + \mathrm{wrong} \, (L - h) + \mathrm{missed} \, (R - h)",
    "yaap": r"\ln \frac{1 + S}{1 + R - S}, \quad S = " + AP,
    "user_r2": r"1 - \frac{\sum_i (s_i - g_i)^2}{\sum_i (g_i - \bar{g}_u)^2}",
    "user_rmse": r"\sqrt{\frac{1}{n_u} \sum_i (s_i - g_i)^2}",
}
