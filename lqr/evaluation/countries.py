"""Countries and their peoples: which country a few words name, so that two of them can be compared.

English names and adjectives as Wikipedia's articles use them; states that are gone are countries of their own. Whole words only.
"""

from __future__ import annotations

import re

# A line a country: its name first, then other names and what its people and things are called.
# ruff: noqa: E501 (a line a country)
_TABLE = """
Afghanistan, Afghan, Afghani
Albania, Albanian
Algeria, Algerian
Andorra, Andorran
Angola, Angolan
Argentina, Argentine, Argentinian, Argentinean, Argentine Republic
Armenia, Armenian
Australia, Australian
Austria, Austrian
Austria-Hungary, Austro-Hungarian, Austro-Hungarian Empire
Azerbaijan, Azerbaijani, Azeri
Bahamas, Bahamian
Bahrain, Bahraini
Bangladesh, Bangladeshi
Barbados, Barbadian
Belarus, Belarusian, Byelorussian
Belgium, Belgian
Belize, Belizean
Benin, Beninese
Bhutan, Bhutanese
Bolivia, Bolivian
Bosnia and Herzegovina, Bosnia, Bosnian, Herzegovinian
Botswana, Motswana
Brazil, Brazilian
Brunei, Bruneian
Bulgaria, Bulgarian
Burkina Faso, Burkinabe, Burkinabé
Burundi, Burundian
Cambodia, Cambodian
Cameroon, Cameroonian
Canada, Canadian
Cape Verde, Cape Verdean
Central African Republic, Central African
Chad, Chadian
Chile, Chilean
China, Chinese, People's Republic of China
Colombia, Colombian
Comoros, Comorian
Costa Rica, Costa Rican
Croatia, Croatian, Croat
Cuba, Cuban
Cyprus, Cypriot
Czech Republic, Czech, Czechia
Czechoslovakia, Czechoslovak, Czechoslovakian
Democratic Republic of the Congo, Democratic Republic of Congo, DR Congo, Zaire
Denmark, Danish, Dane
Djibouti, Djiboutian
Dominican Republic, Dominican
East Germany, East German, German Democratic Republic
East Timor, Timor-Leste, Timorese
Ecuador, Ecuadorian
Egypt, Egyptian
El Salvador, Salvadoran
England, English
Equatorial Guinea, Equatoguinean
Eritrea, Eritrean
Estonia, Estonian
Eswatini, Swaziland, Swazi
Ethiopia, Ethiopian
Fiji, Fijian
Finland, Finnish, Finn
France, French, Frenchman
Gabon, Gabonese
Gambia, Gambian
Georgia, Georgian
Germany, German, Federal Republic of Germany
Ghana, Ghanaian
Greece, Greek
Greenland, Greenlandic
Guatemala, Guatemalan
Guinea, Guinean
Guinea-Bissau, Bissau-Guinean
Guyana, Guyanese
Haiti, Haitian
Honduras, Honduran
Hong Kong, Hongkonger
Hungary, Hungarian
Iceland, Icelandic, Icelander
India, Indian
Indonesia, Indonesian
Iran, Iranian, Persia, Persian
Iraq, Iraqi
Ireland, Irish, Republic of Ireland
Israel, Israeli
Italy, Italian
Ivory Coast, Côte d'Ivoire, Ivorian
Jamaica, Jamaican
Japan, Japanese
Jordan, Jordanian
Kazakhstan, Kazakh, Kazakhstani
Kenya, Kenyan
Kosovo, Kosovar
Kuwait, Kuwaiti
Kyrgyzstan, Kyrgyz
Laos, Laotian, Lao
Latvia, Latvian
Lebanon, Lebanese
Lesotho, Basotho
Liberia, Liberian
Libya, Libyan
Liechtenstein, Liechtensteiner
Lithuania, Lithuanian
Luxembourg, Luxembourgish, Luxembourger
Madagascar, Malagasy
Malawi, Malawian
Malaysia, Malaysian
Maldives, Maldivian
Mali, Malian
Malta, Maltese
Mauritania, Mauritanian
Mauritius, Mauritian
Mexico, Mexican
Moldova, Moldovan
Monaco, Monégasque, Monegasque
Mongolia, Mongolian
Montenegro, Montenegrin
Morocco, Moroccan
Mozambique, Mozambican
Myanmar, Burma, Burmese
Namibia, Namibian
Nepal, Nepali, Nepalese
Netherlands, Dutch, Holland
New Zealand, New Zealander
Nicaragua, Nicaraguan
Niger, Nigerien
Nigeria, Nigerian
North Korea, North Korean
North Macedonia, Macedonia, Macedonian
Norway, Norwegian
Oman, Omani
Ottoman Empire, Ottoman
Pakistan, Pakistani
Palestine, Palestinian
Panama, Panamanian
Papua New Guinea, Papua New Guinean
Paraguay, Paraguayan
Peru, Peruvian
Philippines, Philippine, Filipino, Filipina
Poland, Polish
Portugal, Portuguese
Prussia, Prussian
Puerto Rico, Puerto Rican
Qatar, Qatari
Republic of the Congo, Congo, Congolese
Romania, Romanian
Russia, Russian, Russian Federation, Russian Empire
Rwanda, Rwandan
Samoa, Samoan
San Marino, Sammarinese
Saudi Arabia, Saudi, Saudi Arabian
Scotland, Scottish, Scots
Senegal, Senegalese
Serbia, Serbian, Serb
Sierra Leone, Sierra Leonean
Singapore, Singaporean
Slovakia, Slovak, Slovakian
Slovenia, Slovenian, Slovene
Somalia, Somali
South Africa, South African
South Korea, South Korean, Korea, Korean, Republic of Korea
South Sudan, South Sudanese
Soviet Union, Soviet, USSR
Spain, Spanish, Spaniard
Sri Lanka, Sri Lankan, Ceylon
Sudan, Sudanese
Suriname, Surinamese
Sweden, Swedish, Swede
Switzerland, Swiss
Syria, Syrian
Taiwan, Taiwanese, Republic of China
Tajikistan, Tajik
Tanzania, Tanzanian
Thailand, Thai
Togo, Togolese
Trinidad and Tobago, Trinidadian, Trinidad
Tunisia, Tunisian
Turkey, Turkish, Turk
Turkmenistan, Turkmen
Uganda, Ugandan
Ukraine, Ukrainian
United Arab Emirates, Emirati, UAE
United Kingdom, British, Briton, Great Britain, Britain, UK, Northern Ireland, Northern Irish, United Kingdom of Great Britain and Ireland, United Kingdom of Great Britain and Northern Ireland
United States, American, United States of America, USA, US, New Mexico
Uruguay, Uruguayan
Uzbekistan, Uzbek
Vatican City, Vatican
Venezuela, Venezuelan
Vietnam, Vietnamese
Wales, Welsh
West Germany, West German
Yemen, Yemeni
Yugoslavia, Yugoslav, Yugoslavian
Zambia, Zambian
Zimbabwe, Zimbabwean, Rhodesia
"""
_INITIALS = frozenset(["US", "UK", "USA", "UAE", "USSR"])  # told by their capitals: "us" is no country
_COUNTRY = {name.strip().casefold(): line.split(",")[0] for line in _TABLE.strip().split("\n") for name in line.split(",")}
_NAMES = re.compile(
    rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(_COUNTRY, key=lambda name: -len(name))))})(?:s|['’]s)?(?!\w)", re.IGNORECASE
)


def countries_in(text: str) -> frozenset[str]:
    """The countries that ``text`` names, by their first names in the table; the longest name at each place counts."""
    text = re.sub(r"\b[A-Z](?:\. ?[A-Z]){1,3}\b\.?", lambda initials: re.sub(r"[. ]", "", initials[0]), text)  # "U. S. A."
    found = set()
    for match in _NAMES.finditer(text.replace("’", "'")):
        said = re.sub(r"['’]s$", "", match[0])
        name = said if said.casefold() in _COUNTRY else said[:-1]
        if name.upper() not in _INITIALS or name.isupper():
            found.add(_COUNTRY.get(name.casefold(), ""))
    return frozenset(found - {""})  # "İran" matches without regard to case and is no name of the table
